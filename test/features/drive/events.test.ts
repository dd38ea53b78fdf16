import test from 'ava'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { addCopies } from '#test/features/drive/rows.ts'
import { firstSpaces, makeSpace, spaceOf } from '#test/features/drive/support.ts'
import { createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createOrg, createService } from '#test/support/factories.ts'
import { removeMember } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { hearSent } from '#test/support/watch/sent.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

/** A space of the team, and the position before its first file. */
async function open() {
  const w = await start()
  const { owner } = w.org
  const id = await makeSpace(owner, w.org, 'plans')
  return { w, id, owner, space: spaceOf(owner, w.org, id), after: await lastSeq(w) }
}

/** The events of files after a position, as a caller reads them. */
const fileEvents = async (w: World, after: number, client: Client = w.org.owner): Promise<Seen[]> =>
  (await readAll(w, client, after)).filter(({ type }) => type.startsWith('drive.object.'))

/** An event in short, such as `created a/x`, and a move as `moved a/x from b/x (changed)`. */
function inShort({ type, subject, data }: Seen): string {
  const name = `${type.slice('drive.object.'.length)} ${subject.key}`
  return type === 'drive.object.moved' ? `${name} from ${data.from} (${data.view})` : name
}
const namesOf = async (...given: Parameters<typeof fileEvents>): Promise<string[]> => (await fileEvents(...given)).map(inShort)

test('events: a file is told as created, replaced, moved and deleted, with its size and type', async (t) => {
  const { w, id, owner, space, after } = await open()
  await space.put('a/x', 'one')
  await space.put('a/x', Buffer.from('%PDF-1.7 two'))
  await space.move('a/x', 'b/y')
  await space.remove('b/y')
  const events = await fileEvents(w, after)
  const [text, pdf] = [
    { size: 3, content_type: 'text/plain' },
    { size: 12, content_type: 'application/pdf' },
  ]
  t.deepEqual(
    events.map(({ type, subject, data }) => [type, subject, data]),
    [
      ['drive.object.created', { space: id, key: 'a/x' }, text],
      ['drive.object.replaced', { space: id, key: 'a/x' }, pdf],
      ['drive.object.moved', { space: id, key: 'b/y' }, { view: 'changed', from: 'a/x', ...pdf }],
      ['drive.object.deleted', { space: id, key: 'b/y' }, pdf],
    ],
  )
  for (const { actor, cause } of events) {
    t.deepEqual(actor, { id: w.org.ownerId, type: 'user' })
    t.deepEqual(cause, { kind: 'request', id: null })
  }
  t.is((await owner.get(`${w.org.path}/events?types=drive.*`)).status, 200)
})

test('events: each file of a folder that is moved or deleted is told once, and made folders are not', async (t) => {
  const { w, space, after } = await open()
  for (const key of ['a/x', 'a/b/y', 'a/b/b/y']) await space.put(key)
  await space.makeFolder('a/made/')
  await space.move('a/', 'c/')
  await space.move('c/b/', 'c/')
  await space.move('c/made/', 'd/')
  await space.remove('c/')
  await space.remove('d/')
  await space.remove('none/')
  t.deepEqual((await namesOf(w, after)).slice(3), [
    'moved c/b/b/y from a/b/b/y (changed)',
    'moved c/b/y from a/b/y (changed)',
    'moved c/x from a/x (changed)',
    'moved c/b/y from c/b/b/y (changed)',
    'moved c/y from c/b/y (changed)',
    'deleted c/b/y',
    'deleted c/x',
    'deleted c/y',
  ])
})

test('events: what a function writes has its run as the cause', async (t) => {
  const { w, owner, after } = await open()
  const fn = await createFunction(t, w.org, handlerOf(`for (const text of ['1', '2']) await sdk.drive.write('plans', 'f', text)`))
  await invoke(t, w.org, fn.id)
  const [run] = (await owner.get(`${w.org.path}/functions/${fn.id}/runs`)).data.runs
  const cause = { kind: 'function', id: run.id }
  t.deepEqual(
    (await fileEvents(w, after)).map((event) => [inShort(event), event.cause]),
    [
      ['created f', cause],
      ['replaced f', cause],
    ],
  )
})

test('events: files are told to who may read their space, now, and a personal drive’s to its owner', async (t) => {
  const { w, space, after } = await open()
  const allow = (actions: readonly string[], resources: readonly string[] = ['plans']) => ({ effect: 'allow', actions, resources })
  const max = await createMember(w, w.org, [])
  const drive = spaceOf(max.client, w.org, (await firstSpaces(max.client, w.org)).main)
  await space.put('a')
  await drive.put('planted')
  await drive.move('planted', 'planted too')
  await drive.remove('planted too')
  const reader = await createMember(w, w.org, [allow(['drive:read'])])
  const key = await createService(w, w.org, [allow(['drive:read'])])
  for (const client of [w.org.owner, reader.client, key.client]) t.deepEqual(await namesOf(w, after, client), ['created a'])
  const own = ['created planted', 'moved planted too from planted (changed)', 'deleted planted too']
  t.deepEqual(await namesOf(w, after, max.client), own)
  const deny = { ...allow(['drive:read']), effect: 'deny' }
  for (const policy of [
    [],
    [allow(['drive:write', 'drive:manage'])],
    [allow(['drive:read'], ['other'])],
    [allow(['drive:read'], ['*']), deny],
  ])
    t.deepEqual(await namesOf(w, after, (await createMember(w, w.org, policy)).client), [])
})

test('events: a share opens the events below it, and of a move only the keys that it covers', async (t) => {
  const { w, id, space, after } = await open()
  const max = await createMember(w, w.org)
  const key = await createService(w, w.org)
  const names = () => namesOf(w, after, max.client)
  for (const file of ['open/x', 'open/b/y', 'opened', 'shut/planted']) await space.put(file)
  t.deepEqual(await names(), [])
  t.is((await space.share({ prefix: 'open/', user_id: max.id, mode: 'view' })).status, 201)
  await space.move('open/x', 'shut/planted too')
  await space.move('shut/planted', 'open/z')
  await space.move('open/b/', 'open/c/')
  await space.move('shut/planted too', 'shut/planted three')
  await space.remove('open/z')
  const seen = [
    'created open/x',
    'created open/b/y',
    'moved open/x from null (left)',
    'moved open/z from null (entered)',
    'moved open/c/y from open/b/y (changed)',
    'deleted open/z',
  ]
  t.deepEqual(await names(), seen)
  t.false(JSON.stringify(await fileEvents(w, after, max.client)).includes('planted'))
  t.deepEqual(await namesOf(w, after, key.client), [])
  const denied = await createMember(w, w.org, [{ effect: 'deny', actions: ['drive:read'], resources: ['plans'] }])
  await space.share({ prefix: 'opened', org_wide: true, mode: 'edit' })
  t.deepEqual(await namesOf(w, after, denied.client), [])
  t.deepEqual((await names()).toSpliced(2, 1), seen)
  const shares = (await space.shares()).data
  for (const share of shares) await w.org.owner.delete(`${w.org.path}/drive/buckets/${id}/shares/${share.id}`)
  t.deepEqual(await names(), [])
})

test('events: of a space that is gone, and of the drive of a member who left, nobody reads any', async (t) => {
  const { w, space, owner, after } = await open()
  const max = await createMember(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  const drive = spaceOf(max.client, w.org, (await firstSpaces(max.client, w.org)).main)
  await drive.put('planted')
  await drive.share({ org_wide: true, mode: 'view' })
  t.deepEqual(await namesOf(w, after), ['created planted'])
  await space.put('a')
  await space.remove('a')
  t.is((await owner.delete(space.path)).status, 204)
  t.deepEqual(await namesOf(w, after), ['created planted'])
  await removeMember(w.db, w.org.id, max.id)
  t.deepEqual(await namesOf(w, after), [])
})

test('events: an upload or a move that is refused tells nothing', async (t) => {
  const w = await start()
  const org = await createOrg(w, 'Small', 'free')
  const world = { ...w, org }
  const space = spaceOf(org.owner, org, (await firstSpaces(org.owner, org)).shared)
  await space.put('seed')
  await space.put('b')
  await addCopies(w.db, org.id, '', 1, 100 * 1024 * 1024 - 6)
  const after = await lastSeq(world)
  t.is((await space.put('c', 'more')).status, 402)
  t.is((await space.put('seed', 'longer')).status, 402)
  t.is((await space.move('seed', 'b')).status, 409)
  t.is((await space.move('none', 'c')).status, 404)
  t.is((await space.remove('none')).status, 404)
  t.deepEqual(await namesOf(world, after), [])
})

test('events: 500 files are moved and deleted by one statement each, with an event each in the order of their keys', async (t) => {
  const { w, space, after } = await open()
  await space.put('many/seed')
  await addCopies(w.db, w.org.id, 'many/', 499, 4 * 499)
  const sent: string[] = []
  t.teardown(hearSent(({ name = '', text }) => /^drive/.test(name) && /\bevent_inbox\b/.test(text) && sent.push(name)))
  t.deepEqual((await space.move('many/', 'moved/')).data, { moved: 500 })
  t.deepEqual((await space.remove('moved/')).data, { deleted: 500 })
  t.deepEqual(sent, ['drive.moveRange', 'drive.deleteRange'])
  const events = await fileEvents(w, after)
  const keys = events.slice(1, 501).map(({ subject }) => subject.key ?? '')
  t.deepEqual(
    events.slice(501).map(({ subject }) => subject.key),
    keys,
  )
  t.deepEqual(keys, keys.toSorted())
  t.deepEqual([events.length, new Set(keys).size, new Set(events.map(({ id }) => id)).size], [1_001, 500, 1_001])
})

test('events: a mirror that follows the events has the files of the space, while many callers write, move and delete at once', async (t) => {
  const { w, space, after } = await open()
  const folders = ['a/', 'b/', 'a/c/']
  const caller = async (number: number): Promise<void> => {
    for (let step = 0; step < 12; step += 1) {
      const folder = folders[(number + step) % 3] ?? ''
      const other = folders[(number + step + 1) % 3] ?? ''
      await space.put(`${folder}f${(number * 3 + step) % 5}`, 'x'.repeat(number * 12 + step))
      if (step % 3 === 1) await space.move(`${folder}f${step % 5}`, `${other}g${number}`)
      if (step % 4 === 2) await space.move(folder, other)
      if (step % 4 === 3) await space.remove(`${folder}f${step % 5}`)
      if (step % 6 === 5) await space.remove(folder)
    }
  }
  await Promise.all([0, 1, 2, 3, 4].map(caller))
  const mirror = new Map<string, number>()
  const events = await fileEvents(w, after)
  for (const { type, subject, data } of events) {
    const key = subject.key ?? ''
    const isHeld = mirror.has(key)
    if (type === 'drive.object.deleted') t.true(mirror.delete(key), `${key} is deleted`)
    else {
      t.is(isHeld, type === 'drive.object.replaced', `${type} ${key}`)
      if (type === 'drive.object.moved') t.true(mirror.delete(data.from), `${data.from} moves`)
      mirror.set(key, data.size)
    }
  }
  const files = (await Promise.all(['', ...folders].map(async (prefix) => (await space.list({ prefix })).data.objects))).flat()
  t.deepEqual([...mirror].toSorted(), files.map(({ key, size }: { key: string; size: number }) => [key, size]).toSorted())
  const count = (type: string) => events.filter((event) => event.type === `drive.object.${type}`).length
  for (const type of ['created', 'replaced', 'moved', 'deleted']) t.true(count(type) > 3, type)
})
