import test from 'ava'
import { fireRemindersJob } from '#shared/features/calendar/jobs.ts'
import type { WorkerPool } from '#shared/platform/jobs/job.ts'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { byHand, chain, createFlow, ended, recordsOf, runsOf, start } from '#test/features/flows/support.ts'
import { createLine } from '#test/features/queues/support.ts'
import { ageOpenOperations, deleteDueWork, readRestingQueues } from '#test/platform/due/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { countOpenJobs, countRows, setWorkspaceStatus, updateWorkspace } from '#test/support/rows.ts'
import { scopeOf } from '#test/support/scope.ts'
import { type World, world } from '#test/support/world.ts'
import { startWorker } from '#workers/worker.ts'

/** Another worker process's pools; ends when no job of these queues waits or runs. */
async function workOff(w: World, pools: readonly WorkerPool[], queues: readonly string[]): Promise<void> {
  const worker = await startWorker(w.config, pools, createLogger('worker', 'silent'))
  await eventually(async () => (await countOpenJobs(w.db, queues)) === 0)
  await worker.stop(1_000)
}

test('rest: waiting work of a suspended workspace is deferred, and done once after it is active again', async (t) => {
  const w = await world()
  const { owner, path } = w.org
  t.teardown(w.close)
  const source = `const handler = ({ name, item }) => sdk.records.create('locations', { name: name ?? item.key })`
  const fn = (await owner.post(`${path}/functions`, { name: 'Write', source })).data
  const line = await createLine(t, w.org, {
    stages: [
      { key: 'in', label: 'In', kind: 'start' },
      { key: 'out', label: 'Out', kind: 'terminal', on_enter: { function_id: fn.id } },
    ],
  })
  const steps = chain(
    byHand,
    ['f', 'action.run_function', { function_id: fn.id, input: { name: '{{trigger.input}}' } }],
    ['r', 'action.create_record', { object_type: 'locations', values: { name: 'after {{trigger.input}}' } }],
  )
  const flow = await createFlow(t, w.org, steps)
  const [one = '', two = ''] = await line.add(['box 1', 'box 2'])
  await w.drain()
  await w.worker.pools.stop(1_000)

  // Two functions wait for a slot; of two others the jobs that will call them wait.
  t.is((await line.move(one, 'out')).status, 200)
  const runs = [await start(t, w.org, flow.id, 'run 1')]
  await workOff(w, ['data', 'flows'], ['queues.entered', 'flows.continue'])
  t.is((await line.move(two, 'out')).status, 200)
  runs.push(await start(t, w.org, flow.id, 'run 2'))
  const exported = await owner.get(`${path}/records/locations/export`, { prefer: 'respond-async' })
  t.is(exported.status, 202)

  await setWorkspaceStatus(w.db, w.org.id, 'suspended')
  await workOff(w, ['data', 'flows', 'functions'], ['queues.entered', 'flows.continue', 'functions.run', 'records.export'])
  t.deepEqual(await readRestingQueues(w.db), ['flows.continue', 'functions.run', 'functions.run', 'queues.entered'])
  t.is(await countRows(w.db, 'gated_jobs'), 0, 'no slot is held')
  await ageOpenOperations(w.db)
  await failAbandonedOperations(w.api.services.database, w.api.services.jobQueue)
  const worker = await startWorker(w.config, ['data', 'flows', 'functions', 'schedule'], createLogger('worker', 'silent'))
  t.teardown(() => worker.stop(1_000))
  t.is((await readRestingQueues(w.db)).length, 4)

  await setWorkspaceStatus(w.db, w.org.id, 'active')
  for (const run of runs) t.is((await ended(w.org, flow.id, run)).status, 'ok')
  await eventually(async () => (await recordsOf(w.org, 'locations')).length === 6)
  t.deepEqual(await readRestingQueues(w.db), [])
  t.is((await runsOf(w.org, flow.id)).length, 2)
  await eventually(async () => (await countOpenJobs(w.db)) === 0)
  const names = (await recordsOf(w.org, 'locations')).map(({ name }) => name)
  t.deepEqual(names.toSorted(), ['after run 1', 'after run 2', 'box 1', 'box 2', 'run 1', 'run 2'])
  const { data } = await owner.get(`${path}/jobs/${exported.data.job_id}`)
  t.like(data, { status: 'failed', error: { code: 'ORG_SUSPENDED' } })
})

for (const [closed, set, reset] of [
  ['is suspended', `status = 'suspended'`, `status = 'active'`],
  ['has the app off', `apps = apps || '{"calendar": false}'`, `apps = apps - 'calendar'`],
] as const) {
  test(`rest: reminders that are due when the workspace ${closed} are sent once afterwards`, async (t) => {
    let now = new Date('2026-12-01T08:00:00Z')
    const w = await world({}, undefined, () => now)
    t.teardown(w.close)
    const ada = await createMember(w, w.org)
    const calendar = await makeCalendar(t, w)
    await makeEvent(t, w, { calendar_id: calendar.id, attendees: [{ user_id: ada.id }], reminders: [30], notify: false })
    await w.drain()
    await updateWorkspace(w.db, w.org.id, set)
    now = new Date('2026-12-01T08:31:00Z')
    // Its job was enqueued just before.
    await deleteDueWork(w.db, 'calendar')
    const { jobQueue, db, cause } = await scopeOf(w, w.org)
    await jobQueue.enqueue(db, fireRemindersJob, { workspaceId: w.org.id, cause }, { calendarId: calendar.id, at: now.toISOString() })
    await w.drain()
    t.deepEqual(await readRestingQueues(w.db), ['calendar.remind'])
    await updateWorkspace(w.db, w.org.id, reset)
    await w.drain()
    const { notifications } = (await ada.client.get(`${w.org.path}/notifications`)).data
    t.is(notifications.length, 1)
    t.deepEqual(await readRestingQueues(w.db), [])
  })
}
