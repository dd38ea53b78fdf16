import test from 'ava'
import { writeFigures } from '#shared/platform/jobs/figures/figure-writer.ts'
import {
  addFigures,
  countEndedByMinute,
  findTopWorkspaces,
  sumAttempts,
  sumTimes,
  sumWorkspaceFigures,
} from '#shared/platform/jobs/figures/store.ts'
import { percentileOf, stepOf } from '#shared/platform/jobs/figures/time-steps.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { takeOwnerFigures } from '#shared/platform/kernel/process/work-figures.ts'
import { runBody } from '#test/features/functions/support.ts'
import { deleteFigures } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

test('figures: every time from 0 ms to five days has one step, and longer ones the last', (t) => {
  t.is(stepOf(0), 0)
  t.is(stepOf(0.99), 0)
  t.is(stepOf(1), 1)
  t.is(stepOf(2), 5)
  t.is(stepOf(2 ** 29), 116)
  t.is(stepOf(Number.MAX_SAFE_INTEGER), 116)
})

test('figures: percentiles of many times are within a fifth of the exact ones', (t) => {
  const times = Array.from({ length: 10_000 }, (_, index) => 1.001 ** index)
  const counts = new Map<number, number>()
  for (const time of times) counts.set(stepOf(time), (counts.get(stepOf(time)) ?? 0) + 1)
  for (const share of [0.5, 0.95]) {
    const exact = times[times.length * share - 1] as number
    const found = percentileOf(counts, share) as number
    t.true(found > exact * 0.8 && found < exact * 1.2, `${found} instead of ${exact}`)
  }
  t.is(percentileOf(new Map(), 0.5), null)
})

test('figures: calls, statements, computing and jobs count for the workspace that caused them, and for no other', async (t) => {
  const w = await world({}, ['functions'])
  t.teardown(w.close)
  const other = await createOrg(w, 'Quiet')
  await w.drain()
  const { database } = w.worker
  const now = new Date()
  await writeFigures(database, now)
  await deleteFigures(w.db)
  for (let call = 1; call <= 3; call++) t.is((await w.org.owner.get(`${w.org.path}/records/locations`)).status, 200)
  await runBody(t, w.org, 'let sum = 0; for (let i = 0; i < 3e8; i++) sum += i; return sum')
  const budget = computeBudget(w.org.id, { steps: 1, bound: 'enough' })
  const until = performance.now() + 30
  while (performance.now() < until) if (budget.isPauseDue()) await budget.pause()
  await w.drain()
  await writeFigures(database, now)
  // A process may just be writing a part of the figures.
  const figures = await eventually(async () => {
    const rows = await database.query(sumWorkspaceFigures({ since: new Date(now.getTime() - 60_000) }))
    const own = rows.find(({ workspace_id }) => workspace_id === w.org.id)
    return own && own.calls >= 5 && own.jobs >= 1 ? rows : false
  })
  t.is(
    figures.find(({ workspace_id }) => workspace_id === other.id),
    undefined,
  )
  const own = figures.find(({ workspace_id }) => workspace_id === w.org.id)
  t.true((own?.database_ms ?? 0) > 0)
  t.true((own?.computing_ms ?? 0) >= 25, `${own?.computing_ms} ms of computing`)
  t.true((own?.jobs ?? 0) >= 1)
  t.true((own?.job_ms ?? 0) > 0)
  const since = { since: new Date(now.getTime() - 60_000) }
  const attempts = await database.query(sumAttempts(since))
  t.true(attempts.some(({ job, done }) => job === 'functions.invoke' && done >= 1))
  t.true((await database.query(sumTimes(since))).some(({ job, ran }) => job === 'functions.invoke' && ran >= 1))
  t.true((await database.query(countEndedByMinute(since))).length >= 1)
})

test('figures: two writes of a minute are added, the busiest workspaces come first, and the platform is none of them', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database } = w.api.services
  const others = [await createOrg(w, 'One'), await createOrg(w, 'Two')]
  const now = new Date('2031-01-01T00:00:30Z')
  const since = new Date('2031-01-01T00:00:00Z')
  const write = () =>
    addFigures(
      database,
      now,
      [
        { job: 'a.job', workspaceId: null, done: 9, failed: 0, runMs: 900 },
        { job: 'a.job', workspaceId: w.org.id, done: 1, failed: 1, runMs: 5 },
        ...others.map(({ id }, index) => ({ job: 'a.job', workspaceId: id, done: 1, failed: 0, runMs: 10 + index })),
      ],
      [{ job: 'a.job', step: 4, waited: 1, ran: 2 }],
      [
        { workspaceId: w.org.id, calls: 1, computingMs: 2, databaseMs: 3, jobs: 4, jobMs: 5 },
        { workspaceId: w.org.ownerId, calls: 1, computingMs: 2, databaseMs: 3, jobs: 4, jobMs: 5 },
      ],
    )
  await Promise.all([write(), write()])
  t.deepEqual(await database.query(sumAttempts({ since })), [{ job: 'a.job', done: 24, failed: 2 }])
  t.deepEqual(await database.query(sumTimes({ since })), [{ job: 'a.job', step: 4, waited: 2, ran: 4 }])
  const top = await database.query(findTopWorkspaces({ since, count: 2 }))
  t.deepEqual(
    top.map(({ name, run_ms }) => [name, run_ms]),
    [
      ['Two', 22],
      ['One', 20],
    ],
  )
  t.deepEqual(await database.query(sumWorkspaceFigures({ since })), [
    { workspace_id: w.org.id, calls: 2, computing_ms: 4, database_ms: 6, jobs: 8, job_ms: 10 },
  ])
})

test('figures: taking them begins them anew', (t) => {
  takeOwnerFigures()
  t.is(takeOwnerFigures().size, 0)
})
