import test, { type ExecutionContext } from 'ava'
import { type DueWork, defineDue } from '#shared/platform/due/due-kind.ts'
import { removeDue, setDue, setDueIfUnset, setDueNoLater } from '#shared/platform/due/due-times.ts'
import { enqueueDue } from '#shared/platform/due/enqueue-due.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { t as s, schema } from '#shared/platform/kernel/schema.ts'
import { deleteDueWork, readJobPayloads, readMaintenanceTime } from '#test/platform/due/rows.ts'
import { deleteJobs, setWorkspaceStatus } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'

const ring = defineJob({
  name: 'due.test-ring',
  work: 'due',
  app: null,
  pool: 'schedule',
  concurrency: 1,
  retry: retryPolicies.once,
  timeoutSeconds: 10,
  tracked: false,
  payload: schema(s.Object({ subject: s.String(), at: s.String() })),
  result: schema(s.Null()),
})
const common = { job: ring, payload: ({ subject, at }: DueWork) => ({ subject, at }) } as const
const alarm = defineDue({ ...common, name: 'test-alarm' })
const money = defineDue({ ...common, name: 'test-money', work: 'upkeep' })
const agenda = defineDue({ ...common, name: 'test-agenda', app: 'calendar' })
const daily = defineDue({
  ...common,
  name: 'test-daily',
  nextTime: ({ at }) => new Date(Date.parse(at) + 86_400_000),
})
const kinds = [alarm, money, agenda, daily]

const start = new Date('2030-05-01T12:00:00Z')
const after = (seconds: number): Date => new Date(start.getTime() + seconds * 1_000)

const withoutSchedule = shareWorld(test, {}, { pools: ['data'] })

/** A world without the pool that enqueues due work: the tests do, at their own time. No worker takes the jobs. */
async function quiet(t: ExecutionContext): Promise<World> {
  const w = await withoutSchedule()
  t.teardown(async () => {
    await deleteJobs(w.db, ring.name)
    await deleteDueWork(w.db, 'test-%')
  })
  await w.api.services.jobQueue.boss.createQueue(ring.name, {})
  return w
}

const fileAt = ({ api }: World, now: Date, atMost = 100): Promise<number> =>
  enqueueDue({ db: api.services.database, jobQueue: api.services.jobQueue, now: () => now }, kinds, atMost)

/** The enqueued jobs as subject and time, sorted. */
async function filed({ db }: World): Promise<string[]> {
  const payloads = await readJobPayloads<{ subject: string; at: string }>(db, ring.name)
  return payloads.map(({ subject, at }) => `${subject} ${Date.parse(at) / 1_000 - start.getTime() / 1_000}`).sort()
}

test('due: work falls due at its time, once, oldest first', async (t) => {
  const w = await quiet(t)
  const { database } = w.api.services
  const times = [5, 1, 3].map((seconds) => ({ subject: `at ${seconds}`, at: after(seconds) }))
  await setDue(database, alarm, w.org.id, times)
  t.is(await fileAt(w, after(0.999)), 0)
  t.is(await fileAt(w, after(1)), 1)
  t.deepEqual(await filed(w), ['at 1 1'])
  t.is(await fileAt(w, after(60), 1), 1)
  t.deepEqual(await filed(w), ['at 1 1', 'at 3 3'])
  await fileAt(w, after(60))
  t.is(await fileAt(w, after(60)), 0)
  t.deepEqual(await filed(w), ['at 1 1', 'at 3 3', 'at 5 5'])
})

test('due: due work is moved, brought forward, left alone or removed', async (t) => {
  const w = await quiet(t)
  const { database } = w.api.services
  const at = (subject: string, seconds: number) => [{ subject, at: after(seconds) }]
  for (const subject of ['moved', 'forward', 'stays', 'kept', 'gone']) await setDue(database, alarm, w.org.id, at(subject, 10))
  await setDue(database, alarm, w.org.id, at('moved', 20))
  await setDueNoLater(database, alarm, w.org.id, at('forward', 5))
  await setDueNoLater(database, alarm, w.org.id, at('stays', 15))
  await setDueIfUnset(database, alarm, w.org.id, at('kept', 1))
  await removeDue(database, alarm, w.org.id, ['gone'])
  await fileAt(w, after(60))
  t.deepEqual(await filed(w), ['forward 5', 'kept 10', 'moved 20', 'stays 10'])
})

test('due: work that was set in a failed transaction never falls due', async (t) => {
  const w = await quiet(t)
  const failing = w.api.services.database.transaction(async (tx) => {
    await setDue(tx, alarm, w.org.id, [{ subject: 'lost', at: start }])
    throw new Error('no')
  })
  await t.throwsAsync(failing, { message: 'no' })
  t.is(await fileAt(w, after(60)), 0)
})

test('due: repeating work is set again in the transaction that enqueues it', async (t) => {
  const w = await quiet(t)
  await setDue(w.api.services.database, daily, w.org.id, [{ subject: 'day', at: start }])
  await fileAt(w, after(1))
  await fileAt(w, after(2))
  t.deepEqual(await filed(w), ['day 0'])
  await fileAt(w, after(86_400))
  t.deepEqual(await filed(w), ['day 0', 'day 86400'])
})

test('due: due work of a suspended workspace waits and falls due once afterwards; payments continue', async (t) => {
  const w = await quiet(t)
  const { database } = w.api.services
  for (const kind of [alarm, money]) await setDue(database, kind, w.org.id, [{ subject: kind.name, at: start }])
  await setWorkspaceStatus(w.db, w.org.id, 'suspended')
  await fileAt(w, after(1))
  t.is(await fileAt(w, after(2)), 0, 'waiting work is read only once')
  t.deepEqual(await filed(w), ['test-money 0'])
  await setWorkspaceStatus(w.db, w.org.id, 'active')
  await fileAt(w, after(3))
  t.deepEqual(await filed(w), ['test-alarm 0', 'test-money 0'])
})

test('due: work of a disabled app waits until the app is enabled', async (t) => {
  const w = await quiet(t)
  await setDue(w.api.services.database, agenda, w.org.id, [{ subject: 'agenda', at: start }])
  const apps = (isOn: boolean) => w.org.owner.patch(w.org.path, { apps: { calendar: isOn } })
  await apps(false)
  await fileAt(w, after(1))
  t.deepEqual(await filed(w), [])
  await apps(true)
  await fileAt(w, after(2))
  t.deepEqual(await filed(w), ['agenda 0'])
})

test('due: a process leaves unknown kinds of work to other processes', async (t) => {
  const w = await quiet(t)
  await setDue(w.api.services.database, { name: 'test-unheard-of' }, w.org.id, [{ subject: 'a', at: start }])
  t.is(await fileAt(w, after(60)), 0)
  t.is(await deleteDueWork(w.db, 'test-unheard-of'), 1)
})

test('due: processes that enqueue at once enqueue nothing twice', async (t) => {
  const w = await quiet(t)
  const times = Array.from({ length: 300 }, (_, n) => ({ subject: `s${n}`, at: after(n) }))
  await setDue(w.api.services.database, alarm, w.org.id, times)
  const counts = await Promise.all(Array.from({ length: 6 }, () => fileAt(w, after(1_000), 50)))
  t.is(
    counts.reduce((sum, count) => sum + count, 0),
    300,
  )
  t.is((await filed(w)).length, 300)
})

test('due: the scheduler enqueues work by the time of its process', async (t) => {
  let now = new Date('2030-01-01T00:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  await w.drain()
  t.is(await readMaintenanceTime(w.db, 'sweep_sessions'), '2030-01-01T01:00:00.000Z')
  now = new Date('2030-01-01T01:00:00Z')
  await w.drain()
  t.is(await readMaintenanceTime(w.db, 'sweep_sessions'), '2030-01-01T02:00:00.000Z')
})
