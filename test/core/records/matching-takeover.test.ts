import test, { type ExecutionContext } from 'ava'
import { createDeals } from '#test/core/records/deals.ts'
import { fillRecords } from '#test/core/records/fill.ts'
import { holdAt } from '#test/core/records/hold.ts'
import { countAuditEntries, countStoredRecords } from '#test/core/records/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { unassignRoles } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import type { World } from '#test/support/world.ts'

const withoutWorkers = shareWorld(test, {}, { pools: [] })

const old = { field: 'stage', op: 'eq', value: 'old' }

/** 250 deals of the stage `old`, named `row 1` to `row 250`. */
async function withDeals(w: World): Promise<string> {
  const { records } = await createDeals(
    w,
    ['name', 'stage'].map((key) => ({ key, type: 'string' })),
  )
  await fillRecords(w, 'deals', 250, { name: `'row ' || n`, stage: `'old'` })
  return records
}

/**
 * Starts a change, kills its worker in the second 100 records, and lets another one continue. Returns the job's result; meanwhile a record
 * is created that matches, and which neither touches.
 */
async function changeWithKill(t: ExecutionContext, w: World, records: string, route: string, body: object, on: 'update' | 'delete') {
  const { owner, path } = w.org
  const hold = await holdAt(w, 'row 150', { type: 'deals', field: 'name', on })
  const first = await startWorkerProcess(t, w, 'data')
  const answer = await owner.post(`${records}/${route}`, body, { prefer: 'respond-async' })
  t.is(answer.status, 202)
  const job = `${path}/jobs/${answer.data.job_id}`
  await hold.reached()
  t.like((await owner.get(job)).data, { status: 'running', progress: { done: 100, total: 250 } })
  t.is((await owner.get(`${records}?limit=1&filter=${encodeURIComponent(JSON.stringify(old))}`)).data.total, 150)
  t.is((await owner.post(records, { values: { name: 'late', stage: 'old' } })).status, 201)
  await first.kill('SIGKILL')
  await startWorkerProcess(t, w, 'data')
  await hold.release()
  await eventually(async () => (await owner.get(job)).data.finished_at !== null)
  const { data } = await owner.get(job)
  t.like(data, { status: 'done', progress: { done: 250, total: 250 } })
  return data.result
}

test('matching takeover: after kill -9 another worker continues a change, and no record is changed twice', async (t) => {
  const w = await withoutWorkers()
  const records = await withDeals(w)
  const result = await changeWithKill(t, w, records, 'update-where', { filter: old, values: { stage: 'new' } }, 'update')
  t.deepEqual(result, { matched: 250, changed: 250, skipped: [] })
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.updated' }), 250)
  const left = await w.org.owner.get(`${records}?filter=${encodeURIComponent(JSON.stringify(old))}`)
  t.deepEqual(
    left.data.records.map(({ values }: { values: { name: string } }) => values.name),
    ['late'],
  )
})

test('matching takeover: after kill -9 another worker continues a deletion', async (t) => {
  const w = await withoutWorkers()
  const records = await withDeals(w)
  const result = await changeWithKill(t, w, records, 'delete-where', { filter: old }, 'delete')
  t.deepEqual(result, { matched: 250, changed: 250, skipped: [] })
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.deleted' }), 250)
  t.is(await countStoredRecords(w.db, w.org.id), 1)
})

test('matching takeover: a caller that loses its rights before the work begins changes nothing', async (t) => {
  const w = await withoutWorkers()
  const records = await withDeals(w)
  const { id, client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:*'] }])
  const answer = await client.post(`${records}/delete-where`, { filter: [] }, { prefer: 'respond-async' })
  t.is(answer.status, 202)
  await unassignRoles(w.db, id)
  await startWorkerProcess(t, w, 'data')
  const job = `${w.org.path}/jobs/${answer.data.job_id}`
  await eventually(async () => (await client.get(job)).data.finished_at !== null)
  t.like((await client.get(job)).data, { status: 'failed', error: { code: 'FORBIDDEN', message: 'Needs records:read on deals' } })
  t.is(await countStoredRecords(w.db, w.org.id), 250)
})

test('matching takeover: a caller that loses its rights during the work changes no further 100 records', async (t) => {
  const w = await withoutWorkers()
  const records = await withDeals(w)
  const { id, client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:*'] }])
  const hold = await holdAt(w, 'row 150', { type: 'deals', field: 'name', on: 'delete' })
  await startWorkerProcess(t, w, 'data')
  const answer = await client.post(`${records}/delete-where`, { filter: [] }, { prefer: 'respond-async' })
  t.is(answer.status, 202)
  await hold.reached()
  await unassignRoles(w.db, id)
  await hold.release()
  const job = `${w.org.path}/jobs/${answer.data.job_id}`
  await eventually(async () => (await client.get(job)).data.finished_at !== null)
  t.like((await client.get(job)).data, { status: 'failed', progress: { done: 200 }, error: { code: 'FORBIDDEN' } })
  t.is(await countStoredRecords(w.db, w.org.id), 50)
})
