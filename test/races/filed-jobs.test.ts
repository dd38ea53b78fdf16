import test from 'ava'
import { maxFiledJobs } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { byHand, chain } from '#test/features/flows/support.ts'
import { atOnce, made, openArena, tally } from '#test/races/arena.ts'
import { addFiledOperations, addFiledRuns, countFiledOperations, endFiledRuns, removeFiledOperations } from '#test/races/rows.ts'

const arena = openArena(test)

test('filed jobs: of 20 callers at the limit, few file a job, and the others are told to come later', async (t) => {
  const ring = await arena.ring()
  const other = await arena.ring()
  const w = arena.world()
  await addFiledOperations(w.db, ring.id, 'records.export', maxFiledJobs - 5)
  t.teardown(() => removeFiledOperations(w.db, ring.id))
  const path = (org: { readonly path: string }) => `${org.path}/records/locations/export`
  const headers = { prefer: 'respond-async' }
  const answers = await atOnce(20, ring.owners, (client) => client.get(path(ring), headers))
  const { 202: filed = 0, 429: refused = 0 } = tally(answers)
  t.is(filed + refused, 20)
  // A job that a worker has taken meanwhile makes room for another one.
  t.true(filed >= 5)
  await addFiledOperations(w.db, ring.id, 'records.export', 20)
  const last = await ring.owner.get(path(ring), headers)
  t.deepEqual([last.status, last.body.error.code, last.headers.get('retry-after')], [429, 'RATE_LIMITED', '5'])
  t.regex(last.body.error.message, /1000 jobs of the kind records\.export wait/)
  t.is((await other.owner.get(path(other), headers)).status, 202, 'another workspace')
  const imports = await ring.owner.post(
    `${ring.path}/records/locations/batch`,
    { operations: [{ op: 'create', values: { name: 'A' } }], atomic: true },
    headers,
  )
  t.is(imports.status, 202, 'another kind')
  t.true((await countFiledOperations(w.db, ring.id, 'records.export')) >= maxFiledJobs)
})

test('filed jobs: runs that a caller starts or retries are limited, and those of functions are not', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  const { owner, path } = ring
  const flow = `${path}/flows/${(await made(owner.post(`${path}/flows`, { name: 'Flow', ...chain(byHand) }))).id}`
  const waiting = chain(byHand, ['w', 'logic.wait', { minutes: '600' }])
  const cancelled = `${path}/flows/${(await made(owner.post(`${path}/flows`, { name: 'Waiting', ...waiting }))).id}`
  const { run_id } = await made(owner.post(`${cancelled}/run`, {}))
  await made(owner.post(`${cancelled}/runs/${run_id}/cancel`, {}))
  await addFiledRuns(w.db, ring.id, maxFiledJobs)
  for (const call of [`${flow}/run`, `${cancelled}/runs/${run_id}/retry`]) {
    const refused = await owner.post(call, {})
    t.deepEqual([refused.status, refused.body.error.code, refused.headers.get('retry-after')], [429, 'RATE_LIMITED', '5'], call)
  }
  const source = `async function handler(id) { return sdk.flows.run(id) }`
  const { id } = await made(owner.post(`${path}/functions`, { name: 'Start', source }))
  const started = await owner.post(`${path}/functions/${id}/invoke`, { input: flow.split('/').at(-1) })
  t.true(started.data.result?.queued, started.text)
  await endFiledRuns(w.db, ring.id)
  for (const call of [`${flow}/run`, `${cancelled}/runs/${run_id}/retry`]) t.is((await owner.post(call, {})).status, 202, call)
})
