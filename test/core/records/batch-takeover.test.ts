import test from 'ava'
import { holdAt } from '#test/core/records/hold.ts'
import { countAuditEntries } from '#test/core/records/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

const withoutWorkers = shareWorld(test, {}, { pools: [] })

const operations = Array.from({ length: 250 }, (_, index) => ({ op: 'create', values: { name: `row ${index + 1}`, amount: 0.1 } }))

test('batch takeover: a batch that is not atomic commits every 100 changes, and after kill -9 another worker repeats none', async (t) => {
  const w = await withoutWorkers()
  await w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'locations', key: 'amount', label: 'Amount', type: 'number' })
  const locations = `${w.org.path}/records/locations`
  const hold = await holdAt(w, 'row 150')
  const first = await startWorkerProcess(t, w, 'data')
  const answer = await w.org.owner.post(`${locations}/batch`, { operations }, { prefer: 'respond-async' })
  t.is(answer.status, 202)
  const job = `${w.org.path}/jobs/${answer.data.job_id}`
  await hold.reached()
  t.like((await w.org.owner.get(job)).data, { status: 'running', progress: { done: 100, total: 250 } })
  t.is((await w.org.owner.get(`${locations}?offset=0`)).data.total, 100)
  await first.kill('SIGKILL')
  await startWorkerProcess(t, w, 'data')
  await hold.release()
  await eventually(async () => (await w.org.owner.get(job)).data.finished_at !== null)
  const { status, result } = (await w.org.owner.get(job)).data
  t.is(status, 'done')
  t.deepEqual(
    result.results.map(({ status, record }: { status: number; record: { values: object } }) => [status, record.values]).slice(99, 102),
    [100, 101, 102].map((row) => [201, { ...result.results[0].record.values, name: `row ${row}`, amount: 0.1 }]),
  )
  t.is((await w.org.owner.get(`${locations}?offset=0`)).data.total, 250)
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.created' }), 250)
})
