import test from 'ava'
import { readGate } from '#test/features/functions/rows.ts'
import { createFunction, handlerOf } from '#test/features/functions/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { dropQueuedJobs } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { world } from '#test/support/world.ts'

test('late: a call that takes too long is 202 for callers who may read the job, and 500 for visitors, independent of Prefer', async (t) => {
  const w = await world({ TRUST_PROXY: '1' })
  const { owner, path, id: orgId } = w.org
  t.teardown(w.close)
  const hasty = await startSecondApi(t, { ...w, config: { ...w.config, answerWithinSeconds: 1 } })
  const { id } = await createFunction(t, w.org, handlerOf("await sdk.records.create('locations', { name: 'late' })"), {
    http_enabled: true,
  })
  await w.drain()
  // No worker takes anything from now on.
  await w.worker.pools.stop(1_000)
  const began = performance.now()
  const call = (method: string, headers: Record<string, string> = {}) =>
    hasty.send(method, `/fn/${orgId}/${id}`, undefined, { ...fromAnywhere(), ...headers })
  const answers = await Promise.all([
    call('GET'),
    call('POST'),
    call('POST', { prefer: 'respond-async' }),
    call('POST', { prefer: 'wait=0' }),
    call('POST', { prefer: 'wait=60', 'idempotency-key': 'k' }),
  ])
  t.true(performance.now() - began >= 1_000, 'each waits for its answer, respond-async or not')
  for (const { status, body, headers } of answers) {
    t.is(status, 500)
    t.deepEqual(body, { error: { code: 'INTERNAL', message: 'function timed out', request_id: headers.get('x-request-id') } })
    t.deepEqual([headers.get('location'), headers.get('preference-applied')], [null, null])
  }
  t.is((await readGate(w.db, w.org.id)).waiting, 0, 'what nobody waits for any more is not done later')
  const asked = await Promise.all(
    ['', 'wait=0', 'wait=60'].map((prefer) => hasty.as(owner.token).post(`${path}/functions/${id}/invoke`, {}, { prefer })),
  )
  const jobs = await Promise.all(asked.map(({ data }) => owner.get(`${path}/jobs/${data.job_id}`)))
  await dropQueuedJobs(w.db)
  for (const { status, headers } of asked) t.deepEqual([status, headers.get('preference-applied')], [202, 'respond-async'])
  for (const { data } of jobs) t.like(data, { kind: 'functions.invoke', status: 'queued' })
})
