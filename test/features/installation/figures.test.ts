import test from 'ava'
import { readOverview } from '#shared/features/installation/overview.ts'
import { describeSchedules } from '#shared/features/installation/schedules.ts'
import { listWorkspaceLoads } from '#shared/features/installation/workspaces.ts'
import { jobs } from '#shared/features.ts'
import { describeKinds } from '#shared/platform/jobs/figures/kinds.ts'
import { addFigures } from '#shared/platform/jobs/figures/store.ts'
import { chain, createFlow } from '#test/features/flows/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { createOperator, visitConsole } from '#test/support/operators.ts'
import { world } from '#test/support/world.ts'

/** Figures of an hour ago, which no process of the test adds to. */
const attempt = { job: 'records.import', done: 3, failed: 1, runMs: 4_000 }
const times = [
  { job: 'records.import', step: 30, waited: 1, ran: 3 },
  { job: 'records.import', step: 40, waited: 1, ran: 1 },
]

test('installation figures: a kind of job has its counts, times, limits and busiest workspaces', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  const { database } = w.worker
  const now = new Date()
  await addFigures(database, now, [{ ...attempt, workspaceId: w.org.id }], times, [])
  const kinds = await describeKinds(database, jobs, now)
  t.is(kinds.length, jobs.length)
  const found = kinds.find(({ kind }) => kind === 'records.import')
  t.like(found, { pool: 'data', waiting: 0, held: 0, running: 0, failed: 0, full: 0, done_hour: 3, failed_attempts_hour: 1 })
  t.deepEqual(found?.top_workspaces, [{ id: w.org.id, name: 'Acme', attempts: 4, run_ms: 4_000 }])
  t.is(found?.limits.in_all, found?.limits.per_process)
  t.true((found?.run_ms.p50 ?? 0) < (found?.run_ms.p95 ?? 0))
  t.is(kinds.find(({ pool }) => pool === 'mail')?.full, null)
})

test('installation figures: workspaces are listed by their use of the database, with what each holds', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  const { database } = w.worker
  const busy = await createOrg(w, 'Busy')
  await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name: 'Depot' } })
  await w.drain()
  const now = new Date()
  const figures = { calls: 7, computingMs: 1_500, databaseMs: 60_000, jobs: 2, jobMs: 3_000 }
  await addFigures(database, now, [], [], [{ ...figures, workspaceId: busy.id }])
  await addFigures(database, new Date(now.getTime() - 25 * 3_600_000), [], [], [{ ...figures, workspaceId: busy.id }])
  const [first, second] = await listWorkspaceLoads(database, now)
  t.like(first, { id: busy.id, name: 'Busy', calls: 7, computing_seconds: 1.5, database_seconds: 60, jobs: 2, job_seconds: 3, waiting: 0 })
  t.like(second, { id: w.org.id, status: 'active', plan: 'paid', file_bytes: 0, mails_day: 0 })
  t.is(second?.rows, 1)
  t.true((first?.job_share ?? 0) > 0.5)
})

test('installation figures: the overview has sixty minutes, the newest last, and what lives', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  const { database, blobs } = w.worker
  const now = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 86_400_000)
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
  for (const minutes of [0, 1, 60, 61])
    await addFigures(database, ago(minutes), [{ ...attempt, workspaceId: null, done: minutes + 1 }], [], [])
  const overview = await readOverview({ db: database, blobs, now: () => now })
  t.is(overview.finished_by_minute.length, 60)
  t.is(overview.finished_by_minute.at(-1), 2)
  t.is(overview.finished_by_minute[0], 61)
  t.like(overview.jobs, { waiting: 0, held: 0, running: 0, failed: 0 })
  t.like(overview.processes, { api: 1, worker: 1, dead: 0 })
  t.true(overview.database.size_bytes > 0)
  t.is(overview.store.fault, null)
})

test('installation figures: schedules of flows and maintenance tasks have their next and last run', async (t) => {
  let time = new Date('2031-01-01T00:00:00Z')
  const w = await world({}, ['flows', 'schedule'], () => time)
  t.teardown(w.close)
  const flow = await createFlow(t, w.org, {
    enabled: true,
    ...chain(['t', 'trigger.schedule', { cron: '*/5 * * * *' }], ['r', 'logic.reduce', { list: '[1]', op: 'count' }]),
  })
  const { database } = w.worker
  const ofFlow = async () => (await describeSchedules(database)).schedules.find(({ subject }) => subject === flow.id)
  t.like(await ofFlow(), { kind: 'flows.schedule', workspace: { id: w.org.id, name: 'Acme' }, held: false, last: null })
  time = new Date('2031-01-01T00:05:01Z')
  await w.drain()
  const run = await ofFlow()
  t.is(Date.parse(run?.next ?? ''), Date.parse('2031-01-01T00:10:00Z'))
  t.like(run?.last, { status: 'ok', error: null })
  const { schedules, waiting } = await describeSchedules(database)
  const task = schedules.find(({ subject }) => subject === 'jobs at gates')
  t.like(task, { kind: 'maintenance', workspace: null })
  t.like(task?.last, { status: 'ok', error: null })
  t.true(waiting.some(({ kind, count }) => kind === 'maintenance' && count > 10))
})

test('installation figures: the page of a kind pauses and resumes it and its pool, and says why it cannot', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const [acting, reading] = [await createOperator(w), await createOperator(w, true)]
  const visit = async (id: string, path: string, isForm = false) => {
    const { headers, formToken } = await visitConsole(w, id)
    const body = isForm ? new URLSearchParams({ form_token: formToken }) : undefined
    const answer = await fetch(`${w.visitor.root}/operator/kinds${path}`, {
      method: body ? 'POST' : 'GET',
      headers,
      redirect: 'manual',
      ...(body && { body }),
    })
    return { status: answer.status, text: await answer.text(), to: answer.headers.get('location') }
  }
  const act = (path: string) => visit(acting.id, path, true)
  t.regex((await visit(acting.id, '')).text, /href="[^"]*\/operator\/kinds\/records\.import">records\.import</)
  t.regex((await visit(acting.id, '/records.import')).text, /Pause this kind[\s\S]*Pause all of the pool data/)
  t.like(await act('/records.import/pause'), { status: 303, to: '/operator/kinds/records.import' })
  t.regex((await visit(acting.id, '/records.import')).text, /<bdi>paused<\/bdi>[\s\S]*Resume this kind/)
  const again = await act('/records.import/pause')
  t.is(again.status, 400)
  t.regex(again.text, /The kind records\.import is paused already/)
  t.is((await act('/records.import/pool/pause')).status, 303)
  t.is((await act('/records.import/resume')).status, 303)
  t.regex((await visit(acting.id, '/records.import')).text, /<bdi>paused<\/bdi>[\s\S]*Resume all of the pool data/)
  t.is((await act('/records.import/pool/resume')).status, 303)
  t.notRegex((await visit(acting.id, '/mail.accounts')).text, /Pause this kind/)
  t.is((await act('/mail.accounts/pause')).status, 400)
  t.is((await act('/no.kind/pause')).status, 404)
  t.is((await visit(reading.id, '/records.import/pause', true)).status, 403)
  t.notRegex((await visit(reading.id, '/records.import')).text, /<button[^>]*>Pause/)
  const { data } = await acting.client.get('/v1/operator/log')
  t.deepEqual(
    data.entries.map(({ action, subject }: { action: string; subject: object }) => [action, subject]),
    [
      ['jobs.resume', { pool: 'data' }],
      ['jobs.resume', { kind: 'records.import' }],
      ['jobs.pause', { pool: 'data' }],
      ['jobs.pause', { kind: 'records.import' }],
    ],
  )
})
