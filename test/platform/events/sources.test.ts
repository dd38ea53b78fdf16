import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { readSnapshots, snapshotToRecord } from '#shared/core/records/snapshots.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { announceEvents } from '#shared/platform/events/announce.ts'
import { findListenedEvents, type ListenedEvent } from '#shared/platform/events/listen.ts'
import type { Dispatch } from '#shared/platform/events/numbering-store.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { lowestId, newId } from '#shared/platform/kernel/ids.ts'
import { deleteListeners, listListenerSources } from '#test/platform/events/rows.ts'
import { addListener, endListeners, receiveEvents, takeEvents } from '#test/support/events.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

let w: World
const shared = shareWorld(test)
/** Opens a workspace; its listeners end with the test. */
async function open(t: ExecutionContext): Promise<void> {
  w = await shared()
  endListeners(t, w)
}

const cause = platformCause('test')
const records = () => `${w.org.path}/records/invoices`
const take = () => takeEvents(w)
const hear = (heard: readonly ListenedEvent[], subscriber: 'test' | 'other' = 'test', id = randomUUID()) =>
  addListener(w, heard, subscriber, id)
const scope = () => ({ db: w.worker.database, jobQueue: w.worker.jobQueue, workspace: { id: w.org.id }, cause })
const heardOf = ({ id: _, seq: __, listeners, cause: ___, snapshots, ...change }: Dispatch) => ({
  ...change,
  ...(snapshots ? { snapshots } : {}),
  listenerIds: Object.values(listeners).flat(),
})
const snapshotsOf = async () => (await Promise.all((await take()).map((one) => readSnapshots(scope(), heardOf(one))))).flat()

test('sources: a listener receives the record as each change left it, and a deleted record as it was before, whatever happens later', async (t) => {
  await open(t)
  const { owner } = w.org
  await hear(['created', 'updated', 'deleted'].map((event) => ({ objectType: 'invoices', event, snapshot: true })))
  const values = { number: 'A-1', total: { amount: '12345678901234.123456', code: 'EUR' }, notes: 'first' }
  const { id, created_at } = (await owner.post(records(), { values })).data
  await owner.put(`${records()}/${id}/values`, { values: { notes: 'second', status: null } })
  await owner.put(`${records()}/${id}/values`, { values: { notes: null } })
  await owner.delete(`${records()}/${id}`)
  const found = await snapshotsOf()
  t.deepEqual(
    found.map((one) => [one.id, one.created_by, one.values.notes, one.values.status]),
    [
      [id, w.org.ownerId, 'first', 'draft'],
      [id, w.org.ownerId, 'second', undefined],
      [id, w.org.ownerId, undefined, undefined],
      [id, w.org.ownerId, undefined, undefined],
    ],
  )
  t.true(found.every((one) => one.created_at === created_at))
  t.deepEqual(
    found.map(({ updated_at }) => updated_at).toSorted(),
    found.map(({ updated_at }) => updated_at),
  )
  const type = await requireRecordType({ ...scope(), cache: w.api.services.cache }, 'invoices')
  for (const one of found) t.deepEqual(snapshotToRecord(type, one).values.total, { amount: '12345678901234.123456', code: 'EUR' })
})

test('sources: no snapshot is taken when no listener asks for one', async (t) => {
  await open(t)
  const { owner } = w.org
  await hear(['created', 'updated', 'deleted'].map((event) => ({ objectType: 'invoices', event })))
  const { id } = (await owner.post(records(), { values: { notes: 'x' } })).data
  await owner.put(`${records()}/${id}/values`, { values: { notes: 'y' } })
  await owner.delete(`${records()}/${id}`)
  const taken = await take()
  t.deepEqual(
    taken.map(({ event, subjectIds, snapshots }) => ({ event, subjectIds, snapshots })),
    ['created', 'updated', 'deleted'].map((event) => ({ event, subjectIds: [id], snapshots: null })),
  )
})

test('sources: an import delivers a snapshot of each of its rows in their order', async (t) => {
  await open(t)
  const { owner } = w.org
  await hear([{ objectType: 'locations', event: 'created', snapshot: true }])
  const names = Array.from({ length: 300 }, (_, number) => `place ${number}`)
  const file = `name\n${names.join('\n')}\n`
  t.like((await owner.post(`${w.org.path}/records/locations/import`, file, { 'content-type': 'text/csv' })).data, { created: 300 })
  const found = await snapshotsOf()
  t.deepEqual(
    found.map(({ values }) => values.name),
    names,
  )
  t.true(found.every((one) => one.created_by === w.org.ownerId && one.created_at === one.updated_at))
})

test('sources: a new listener receives the next update from every API', async (t) => {
  await open(t)
  const other = (await startSecondApi(t, w)).as(w.org.owner.token ?? '')
  const { id } = (await w.org.owner.post(records(), { values: { notes: '0' } })).data
  const url = `${records()}/${id}/values`
  for (const [round, at] of [w.org.owner, other, w.org.owner, other].entries()) {
    await deleteListeners(w.db)
    await at.put(url, { values: { notes: `${round} unheard` } })
    await hear([{ objectType: 'invoices', event: 'updated', snapshot: true }])
    await at.put(url, { values: { notes: `${round} heard` } })
    t.deepEqual(
      (await snapshotsOf()).map(({ values }) => values.notes),
      [`${round} heard`],
    )
  }
})

test('sources: a feature announces events of its own once to the listeners of any of its topics, with snapshots for those that ask', async (t) => {
  await open(t)
  const [any, team, elsewhere, asking] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await hear(
    [
      { source: 'calendar', objectType: '', event: 'created' },
      { source: 'calendar', objectType: 'team', event: 'created' },
    ],
    'test',
    any,
  )
  await hear([{ source: 'calendar', objectType: 'team', event: 'created' }], 'test', team)
  await hear(
    [
      { source: 'calendar', objectType: 'else', event: 'created' },
      { objectType: 'invoices', event: 'created' },
    ],
    'test',
    elsewhere,
  )
  const happenings = [1, 2].map((number) => ({ id: newId(), subjectId: randomUUID(), snapshot: { title: `event ${number}` } }))
  const created = { type: null, source: 'calendar', topic: 'team', event: 'created', events: happenings } as const
  await w.worker.database.transaction((tx) => announceEvents({ ...scope(), db: tx }, created))
  t.like(await take(), [
    {
      source: 'calendar',
      objectType: 'team',
      event: 'created',
      entryIds: happenings.map(({ id }) => id),
      subjectIds: happenings.map(({ subjectId }) => subjectId),
      snapshots: null,
      listeners: { test: [any, team].toSorted() },
    },
  ])
  await hear([{ source: 'calendar', objectType: '', event: 'created', snapshot: true }], 'other', asking)
  await announceEvents(scope(), created)
  t.deepEqual(
    (await take())[0]?.snapshots,
    happenings.map(({ snapshot }) => snapshot),
  )
  await announceEvents(scope(), { ...created, event: 'cancelled' })
  await announceEvents(scope(), { ...created, events: [] })
  t.deepEqual(await take(), [])
  t.deepEqual(await findListenedEvents(w.worker.database, w.org.id, 'calendar'), [
    { objectType: '', event: 'created' },
    { objectType: 'else', event: 'created' },
    { objectType: 'team', event: 'created' },
  ])
})

test('sources: an announcement that is rolled back is never delivered', async (t) => {
  w = await shared()
  const received = await receiveEvents(t, w, [{ source: 'calendar', objectType: '', event: 'created' }])
  const announcement = {
    type: null,
    source: 'calendar',
    topic: '',
    event: 'created',
    events: [{ id: newId(), subjectId: lowestId, snapshot: null }],
  } as const
  await t.throwsAsync(
    w.worker.database.transaction(async (tx) => {
      await announceEvents({ ...scope(), db: tx }, announcement)
      throw new Error('no')
    }),
  )
  t.deepEqual(await received(), [])
  await announceEvents(scope(), announcement)
  t.like(await received(1), [{ event: 'created', subjectIds: [lowestId] }])
})

test('sources: a deleted record type removes its listeners, and those of another source stay', async (t) => {
  await open(t)
  const key = 'gone'
  await w.org.owner.post(`${w.org.path}/types`, { key, label: 'Gone' })
  await hear([
    { objectType: key, event: 'created' },
    { source: 'calendar', objectType: key, event: 'created' },
  ])
  t.is((await w.org.owner.delete(`${w.org.path}/types/${key}`)).status, 204)
  t.deepEqual(await listListenerSources(w.db), ['calendar'])
})
