import test from 'ava'
import { dueKinds } from '#shared/features.ts'
import { enqueueDue } from '#shared/platform/due/enqueue-due.ts'
import { addScheduledFlows, countRunsOfFlow, readRunsAndFlows } from '#test/features/flows/rows.ts'
import { chain, createFlow, endedRuns, runsOf } from '#test/features/flows/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { once } from '#test/support/once.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

// Tests set the time. Workers enqueue due schedules within a second; `file` enqueues them by several processes at once.
// It is tomorrow, so that no session is expired.
const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
let now = new Date(`${day}T00:00:30Z`)
let w: World
const shared = shareWorld(test, {}, { now: () => now })
const open = once(async () => {
  w = await shared()
})

const at = (text: string): void => {
  now = new Date(`${day}T${text}Z`)
}
const make = ['a', 'action.create_record', { object_type: 'locations', values: { name: '{{trigger.event}}' } }] as const
const every = (cron: string) => ({ enabled: true, ...chain(['t', 'trigger.schedule', { cron }], make) })
const flowsOf = dueKinds.filter(({ name }) => name.startsWith('flows.'))

/** Enqueues the due schedules by three concurrent calls. */
const file = () =>
  Promise.all([1, 2, 3].map(() => enqueueDue({ db: w.worker.database, jobQueue: w.worker.jobQueue, now: () => now }, flowsOf, 500)))
const eventsOf = async (org: World['org'], flowId: string) => (await runsOf(org, flowId)).map(({ trigger }) => trigger.event)

test('schedules: a schedule runs once for each due time with several workers, and shows its next due time', async (t) => {
  await open()
  const org = await createOrg(w)
  at('00:00:30')
  const flow = await createFlow(t, org, every('*/5 * * * *'))
  t.is(flow.next_run_at, `${day}T00:05:00.000000Z`)
  for (const minute of ['05', '10', '15']) {
    at(`00:${minute}:00`)
    await file()
    await w.drain()
  }
  const runs = await endedRuns(w, org, flow.id, 3)
  t.deepEqual(
    runs.map(({ trigger, status }) => [trigger.kind, trigger.event, status]),
    ['05', '10', '15'].map((minute) => ['schedule', `${day}T00:${minute}:00.000000Z`, 'ok']),
  )
  t.is((await org.owner.get(`${org.path}/flows/${flow.id}`)).data.next_run_at, `${day}T00:20:00.000000Z`)
  t.like((await org.owner.get(`${org.path}/flows/overview`)).data, {
    by_trigger: { schedule: 1 },
    upcoming: [{ flow_id: flow.id, next_run_at: `${day}T00:20:00.000000Z` }],
  })
})

test('schedules: one run replaces all runs that were missed while no worker ran', async (t) => {
  await open()
  const org = await createOrg(w)
  at('01:00:30')
  const flow = await createFlow(t, org, every('* * * * *'))
  at('01:08:10')
  await file()
  await w.drain()
  t.deepEqual(await eventsOf(org, flow.id), [`${day}T01:01:00.000000Z`])
  at('01:09:00')
  await file()
  await w.drain()
  t.deepEqual(await eventsOf(org, flow.id), [`${day}T01:01:00.000000Z`, `${day}T01:09:00.000000Z`])
})

test('schedules: a changed, disabled or deleted schedule is due by its new definition', async (t) => {
  await open()
  const org = await createOrg(w)
  at('02:00:30')
  const flow = await createFlow(t, org, every('10 * * * *'))
  const url = `${org.path}/flows/${flow.id}`
  const changed = await org.owner.put(url, every('20 * * * *'))
  t.is(changed.data.next_run_at, `${day}T02:20:00.000000Z`)
  at('02:10:00')
  await file()
  await w.drain()
  t.deepEqual(await eventsOf(org, flow.id), [])
  t.is((await org.owner.put(url, { enabled: false })).data.next_run_at, null)
  at('02:20:00')
  await file()
  await w.drain()
  t.deepEqual(await eventsOf(org, flow.id), [])
  at('02:30:00')
  t.is((await org.owner.put(url, { enabled: true })).data.next_run_at, `${day}T03:20:00.000000Z`)
  await org.owner.delete(url)
  at('03:20:00')
  await file()
  await w.drain()
  t.is(await countRunsOfFlow(w.db, flow.id), 0)
})

test('schedules: in a suspended workspace a schedule waits, and runs once afterwards', async (t) => {
  await open()
  const org = await createOrg(w)
  at('04:00:30')
  const flow = await createFlow(t, org, every('* * * * *'))
  await setWorkspaceStatus(w.db, org.id, 'suspended')
  for (const minute of ['01', '02', '03']) {
    at(`04:${minute}:00`)
    await file()
    await w.drain()
  }
  t.is(await countRunsOfFlow(w.db, flow.id), 0)
  await setWorkspaceStatus(w.db, org.id, 'active')
  await file()
  await w.drain()
  t.deepEqual(await eventsOf(org, flow.id), [`${day}T04:01:00.000000Z`])
})

test('schedules: a schedule in a time zone runs at its times there', async (t) => {
  await open()
  const org = await createOrg(w)
  at('06:30:00')
  const trigger = ['t', 'trigger.schedule', { cron: '30 12 * * *', timezone: 'Asia/Kolkata' }] as const
  const flow = await createFlow(t, org, { enabled: true, ...chain(trigger, make) })
  t.is(flow.next_run_at, `${day}T07:00:00.000000Z`)
  at('07:00:00')
  await file()
  await w.drain()
  t.deepEqual(await eventsOf(org, flow.id), [`${day}T07:00:00.000000Z`])
  const next = (await org.owner.get(`${org.path}/flows/${flow.id}`)).data.next_run_at
  t.is(next, new Date(Date.parse(`${day}T07:00:00Z`) + 86_400_000).toISOString().replace('.000Z', '.000000Z'))
})

test('schedules: 100 flows of every minute make 100 runs a minute with several workers', async (t) => {
  await open()
  const org = await createOrg(w)
  at('08:00:30')
  const flow = await createFlow(t, org, { ...every('* * * * *'), enabled: false })
  const dueAt = new Date(`${day}T08:01:00Z`)
  t.is(await addScheduledFlows(w.db, org.id, flow.id, { count: 100, createdAt: now, dueAt }), 100)
  for (const minute of ['01', '02', '03']) {
    at(`08:${minute}:00`)
    await file()
    await w.drain()
  }
  t.deepEqual(await readRunsAndFlows(w.db, org.id), { runs: 300, flows: 100 })
})
