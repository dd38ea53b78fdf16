import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { follow, listedOf, received } from '#test/core/events/following.ts'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { countPlaces, numberEvent, numberEventLate } from '#test/core/events/rows.ts'
import { times } from '#test/support/depth.ts'
import { ended, type OpenedStream } from '#test/support/event-stream.ts'
import { numberEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Caller, createMember, createRole, createService } from '#test/support/factories.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const read = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['visits'], ...more })
const inNorth = { 'resource.region': { eq: 'north' } }

/** Makes the type `visits` with a region, notes and a secret. */
async function makeVisits({ org: { owner, path } }: World): Promise<string> {
  await owner.post(`${path}/types`, { key: 'visits', label: 'Visits' })
  for (const key of ['region', 'notes', 'secret'])
    await owner.post(`${path}/fields`, { entity_type: 'visits', key, label: key, type: 'string' })
  return `${path}/records/visits`
}

test('stream rights: each reader gets what the list shows it, also those who read together', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner } = w.org
  const readers = await Promise.all([
    createMember(w, w.org, [read({ condition: inNorth, fields: { deny: ['secret'] } })]),
    createMember(w, w.org, [read({ fields: { allow: ['region'] } })]),
    createMember(w, w.org, [read({ resources: ['locations'] })]),
    createService(w, w.org, [read()]),
    createMember(w, w.org, [{ effect: 'allow', actions: ['iam:manage_groups'], resources: ['*'] }]),
  ])
  const after = await lastSeq(w)
  const streams = await Promise.all([...readers, ...readers].map(({ client }) => follow(t, w, client)))
  const { id } = (await owner.post(visits, { values: { region: 'south', notes: 'planted', secret: 'planted' } })).data
  for (const values of [
    { region: 'north' },
    { notes: 'a', secret: 'planted' },
    { secret: 'planted too' },
    { region: 'south', notes: 'planted' },
  ])
    t.is((await owner.put(`${visits}/${id}/values`, { values })).status, 204)
  await owner.delete(`${visits}/${id}`)
  await owner.post(`${w.org.path}/iam/groups`, { name: 'new', policy: [] })
  const last = await follow(t, w, owner, `?after=${after}`)
  await received(last, 7)
  for (const [index, stream] of streams.entries()) {
    const expected = await readAll(w, readers[index % readers.length]?.client ?? owner, after)
    await received(stream, expected.length)
    t.deepEqual(listedOf(stream), expected)
  }
  t.deepEqual(
    streams.map((stream) => listedOf(stream).length),
    [3, 4, 0, 6, 1, 3, 4, 0, 6, 1],
  )
  t.false([0, 1, 2, 4].some((index) => streams[index]?.text().includes('planted too')))
})

/** How long a stream is open at most after its rights have ended, with the time for a busy machine. */
const goneWithinMs = 1_000 + 1_500

/** The milliseconds from the answer of a change until a stream has ended. */
async function endsAfter(stream: OpenedStream, change: () => Promise<unknown>): Promise<number> {
  await change()
  const began = performance.now()
  await ended(stream)
  return performance.now() - began
}

test('stream rights: a stream ends within a second of its credentials, at every process', async (t) => {
  const w = await shared()
  const second = await startSecondApi(t, w)
  const { owner, path, id } = w.org
  const at = ({ client }: Caller) => ({ root: second.root, token: client.token })
  const stays = await follow(t, w, owner)
  const { data: account } = await owner.post(`${path}/service-accounts`, { name: 'robot', role_ids: [] })
  const { data: key } = await owner.post(`${path}/service-accounts/${account.id}/keys`, { name: 'key' })
  const { data: expiring } = await owner.post(`${path}/service-accounts/${account.id}/keys`, {
    name: 'short',
    expires_at: new Date(Date.now() + 2_500).toISOString(),
  })
  const keys = { root: second.root, token: key.key as string }
  const [byKey, byExpiring] = [await follow(t, w, keys), await follow(t, w, { root: second.root, token: expiring.key })]
  const [removed, signedOut] = [await createMember(w, w.org), await createMember(w, w.org)]
  const [byRemoved, bySignedOut] = [await follow(t, w, at(removed)), await follow(t, w, at(signedOut))]
  const leaving = [byKey, byExpiring, byRemoved, bySignedOut]
  t.true(leaving.every(({ answer, hasEnded }) => answer.statusCode === 200 && !hasEnded()))
  const ends = [
    await endsAfter(byKey, () => owner.delete(`${path}/service-accounts/${account.id}/keys/${key.id}`)),
    await endsAfter(byRemoved, () => owner.delete(`${path}/members/${removed.id}`)),
    await endsAfter(bySignedOut, () => signedOut.client.post('/v1/auth/sign-out')),
    await endsAfter(byExpiring, () => setTimeout(Math.max(0, Date.parse(expiring.expires_at) - Date.now()))),
  ]
  for (const ms of ends) t.true(ms < goneWithinMs, `${ends}`)
  t.true(
    leaving.every(({ answer }) => answer.complete),
    'an ended stream is a whole answer',
  )
  t.false(stays.hasEnded())
  await eventually(async () => (await countPlaces(w)) === 1)
  t.true((await endsAfter(stays, () => setWorkspaceStatus(w.db, id, 'suspended'))) < goneWithinMs)
})

test('stream rights: no event that is numbered after a right was taken is shown', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const second = await startSecondApi(t, w)
  const { owner, path } = w.org
  const roleId = await createRole(w, w.org, [])
  const readers = await Promise.all([createMember(w, w.org), createMember(w, w.org)])
  for (const { id } of readers) await giveRole(w, roleId, id)
  const roots = [w.visitor.root, second.root]
  const streams = await Promise.all(readers.map(({ client }, index) => follow(t, w, { root: roots[index] ?? '', token: client.token })))
  const setPolicy = async (policy: readonly object[]) =>
    t.is((await owner.put(`${path}/iam/groups/${roleId}`, { name: 'readers', policy })).status, 200)
  const ofTry = (notes: string) => [read({ condition: { 'resource.notes': { eq: notes } } })]
  const add = async (notes: string): Promise<string> => (await owner.post(visits, { values: { notes } })).data.id
  const forbidden = new Set<string>()
  for (let number = 0; number < times(200, 1_000); number += 1) {
    const notes = `try ${number}`
    await setPolicy(ofTry(notes))
    // Events that are under way when the right is taken may be shown or not.
    const underWay = [add(notes), add(notes)]
    await setPolicy([])
    forbidden.add(await add(notes))
    await Promise.all(underWay)
  }
  await numberEvents(w)
  await setPolicy(ofTry('last'))
  const lastId = await add('last')
  for (const stream of streams) {
    await eventually(() => listedOf(stream).some(({ subject }) => subject.id === lastId))
    const events = listedOf(stream)
    t.true(events.length > 1, 'some were shown while they might be')
    t.deepEqual(
      events.filter(({ subject }) => forbidden.has(subject.id ?? '')),
      [],
    )
  }
})

test('stream rights: an event that is numbered while rights are read is judged by those that are read after it', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const policy = [{ effect: 'allow', actions: ['iam:manage_members'], resources: ['*'] }]
  const roleId = await createRole(w, w.org, policy)
  const reader = await createMember(w, w.org)
  await giveRole(w, roleId, reader.id)
  const stream = await follow(t, w, reader.client)
  const shownId = await numberEvent(w, 'members.left')
  await eventually(() => listedOf(stream).some(({ id }) => id === shownId))
  const hiddenId = await numberEventLate(w, 'members.left', async () => {
    t.is((await owner.put(`${path}/iam/groups/${roleId}`, { name: 'readers', policy: [] })).status, 200)
  })
  await owner.put(`${path}/iam/groups/${roleId}`, { name: 'readers', policy })
  const lastId = await numberEvent(w, 'members.left')
  await eventually(() => listedOf(stream).some(({ id }) => id === lastId))
  t.false(listedOf(stream).some(({ id }) => id === hiddenId))
})

/** Gives a member a role, by the API. */
async function giveRole({ org: { owner, path } }: World, roleId: string, memberId: string): Promise<void> {
  await owner.post(`${path}/iam/groups/${roleId}/members`, { user_id: memberId })
}
