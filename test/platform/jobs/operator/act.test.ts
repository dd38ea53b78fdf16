import test from 'ava'
import { inboxSignal } from '#shared/platform/jobs/job-signals.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { sendMailJob } from '#shared/platform/mail/jobs.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { byHand, chain, createFlow, ended, graph, runOf, start } from '#test/features/flows/support.ts'
import { createFunction, createLatch, handlerOf, listStarted, waitAtLatch } from '#test/features/functions/support.ts'
import { readMail } from '#test/platform/jobs/operator/rows.ts'
import { fileExport, operatorOf } from '#test/platform/jobs/operator/support.ts'
import { refuseJobFiles } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { hurry } from '#test/support/hurry.ts'
import { countDeadLetters, countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)

test('operator act: a waiting caller of a cancelled job gets 503 CANCELLED, and so does who asks later', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { list, act, show } = operatorOf(w)
  const waiting = w.org.owner.get(`${w.org.path}/records/locations/export`)
  const [job] = await eventually(async () => {
    const { jobs } = await list({ kind: 'records.export' })
    return jobs.length > 0 && jobs
  })
  const id = job?.id ?? ''
  await act('cancel', id)
  const answer = await waiting
  t.deepEqual([answer.status, answer.body.error.code], [503, 'CANCELLED'])
  t.like((await w.org.owner.get(`${w.org.path}/jobs/${id}`)).data, { status: 'failed', error: { code: 'CANCELLED' } })
  t.is((await show(id)).state, 'cancelled')
  for (const action of ['cancel', 'retry', 'discard'] as const)
    await t.throwsAsync(act(action, id), { message: new RegExp(`^${action} needs a job that .*; this one is cancelled$`) })
  await t.throwsAsync(act('cancel', '01900000-0000-7000-8000-000000000000'), { code: 'NOT_FOUND' })
  await t.throwsAsync(act('cancel', 'x'), { code: 'NOT_FOUND' })
})

test('operator act: what a cancelled function writes later is not committed as its result, and its slot is free', async (t) => {
  const w = await shared()
  const org = await createOrg(w, 'Cancelling')
  const { act, show, list } = operatorOf(w)
  const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return input.number`))
  const latch = await createLatch(org)
  const call = (number: number) => org.owner.post(`${org.path}/functions/${id}/invoke`, { input: { latch: latch.id, number } })
  const calls = [1, 2, 3, 4].map(call)
  await eventually(async () => (await listStarted(org)).length === 4)
  const fifth = call(5)
  const waiting = await eventually(async () => (await list({ workspace: org.id, kind: 'functions.invoke', state: 'waiting' })).jobs[0])
  t.is(waiting.why, 'its workspace has 4 of 4')
  const running = (await list({ workspace: org.id, kind: 'functions.invoke', state: 'running' }, { sort: 'created_at' })).jobs
  t.is(running.length, 4)
  const first = running[0]?.id ?? ''
  t.like((await show(first)).payload, { functionId: id, input: '[hidden]', rights: 'caller' })
  await act('cancel', first)
  await eventually(async () => (await listStarted(org)).length === 5, 10_000)
  await latch.open()
  const answers = await Promise.all([...calls, fifth])
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 200, 200, 503])
  const detail = await show(first)
  t.is(detail.state, 'cancelled')
  t.is(detail.attempts.length, 1)
  t.is(detail.attempts[0]?.error, 'An operator of the installation has cancelled this work')
  await w.drain()
})

test('operator act: a visitor whose function is cancelled gets 503 CANCELLED', async (t) => {
  const w = await shared()
  const org = await createOrg(w, 'Visited')
  const { act, list } = operatorOf(w)
  const { id } = await createFunction(t, org, handlerOf('for (;;);'))
  t.is((await org.owner.put(`${org.path}/functions/${id}`, { http_enabled: true })).status, 200)
  const visit = w.visitor.get(`/fn/${org.id}/${id}`)
  const search = { workspace: org.id, kind: 'functions.invoke', state: 'running' } as const
  const [job] = await eventually(async () => {
    const { jobs } = await list(search)
    return jobs.length > 0 && jobs
  })
  await act('cancel', job?.id ?? '')
  const { status, body } = await visit
  t.deepEqual([status, body.error.code], [503, 'CANCELLED'])
})

test('operator act: a flow whose function is cancelled fails with CANCELLED', async (t) => {
  const w = await world({}, ['schedule', 'flows', 'data', 'mail'])
  t.teardown(w.close)
  const { list, act, show } = operatorOf(w)
  // Functions are saved by their pool, so one is made past it.
  const worker = await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(t, w.org, handlerOf('return 1'))
  await worker.kill('SIGKILL')
  const flow = await createFlow(t, w.org, chain(byHand, ['f', 'action.run_function', { function_id: id, input: null }]))
  const runId = await start(t, w.org, flow.id)
  const job = await eventually(async () => (await list({ kind: 'functions.run' })).jobs[0])
  await act('cancel', job.id)
  const run = await ended(w.org, flow.id, runId)
  t.is(run.status, 'failed')
  t.regex(JSON.stringify(run), /CANCELLED/)
  t.is((await show(job.id)).state, 'cancelled')
  await w.drain()
})

test('operator act: cancelling the waiting job of a run wakes the numbering of events', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { list, act } = operatorOf(w)
  const flow = await createFlow(t, w.org, chain(byHand, ['w', 'logic.wait', { minutes: 1 }]))
  const runId = await start(t, w.org, flow.id)
  const job = await eventually(async () => (await list({ kind: 'flows.continue' })).jobs[0])
  const woken: string[] = []
  w.api.services.jobQueue.signals.signalOften = (queue) => void woken.push(queue)
  await act('cancel', job.id)
  t.deepEqual(woken, [inboxSignal])
  t.is((await ended(w.org, flow.id, runId)).status, 'failed')
})

test('operator act: a mail that is cancelled while it waits has failed, and a discarded dead letter is gone', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { act, list, show } = operatorOf(w)
  const { database: db, jobQueue } = w.api.services
  const cause = platformCause('mail')
  const mail = { workspaceId: w.org.id, kind: 'message', to: 'a@example.com', subject: 'S', text: 'planted text' }
  const mailId = await queueMail({ db, jobQueue, cause }, mail)
  const job = (await list({ kind: sendMailJob.name, request_id: 'mail' })).jobs[0]
  t.like(job, { state: 'waiting', workspace: w.org.id, pool: 'mail', why: 'no worker of pool mail' })
  t.deepEqual((await show(job?.id ?? '')).payload, { mailId })
  await act('cancel', job?.id ?? '')
  t.like(await readMail(w.db, mailId), { status: 'failed', last_error: 'An operator of the installation has cancelled this work' })
  t.is((await show(job?.id ?? '')).state, 'cancelled')
  t.is((await list({ kind: sendMailJob.name })).total, 0)
  await t.throwsAsync(act('discard', job?.id ?? ''), { message: /^discard needs a job that has failed; this one is cancelled/ })
})

test('operator act: a failed job is retried unless its caller was told, and a discarded one is cancelled', async (t) => {
  const w = await shared()
  const { act, show, list } = operatorOf(w)
  const accept = await refuseJobFiles(w.db)
  const before = await countDeadLetters(w.db)
  const ids = [await fileExport(w.org), await fileExport(w.org)]
  for (const id of ids) await hurry(w, id)
  await eventually(async () => (await countDeadLetters(w.db)) === before + 2)
  await accept()
  const [told = '', untold = ''] = ids
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${told}`)).data.status, 'failed')
  t.true((await list({ error: 'NO FILE to' })).jobs.some(({ id }) => id === untold))
  await t.throwsAsync(act('retry', told), { message: /^also_answered must be true: the caller of this job was told/ })
  await act('retry', untold)
  t.is(await hurry(w, untold), 'done')
  const retried = await show(untold)
  t.deepEqual([retried.state, retried.error, retried.attempts.length > 5], ['done', null, true])
  t.is(retried.attempts.at(-1)?.error, null)
  t.regex(retried.attempts.at(-2)?.error ?? '', /no file today/)
  await act('discard', told)
  t.is((await show(told)).state, 'cancelled')
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${told}`)).data.status, 'failed')
  t.is(await countDeadLetters(w.db), before)
  await t.throwsAsync(act('retry', told, { alsoAnswered: true }), { message: /this one is cancelled/ })
})

test('operator act: the failure of a caller itself is retried only on purpose, while its payload is kept', async (t) => {
  const w = await shared()
  const { act, show } = operatorOf(w)
  const { data } = await w.org.owner.post(
    `${w.org.path}/records/locations/batch`,
    { operations: [{ op: 'create', values: { nonsense: 1 } }], atomic: true },
    { prefer: 'respond-async' },
  )
  t.is(await hurry(w, data.job_id), 'failed')
  await w.drain()
  const { error } = await show(data.job_id)
  t.is(error?.code, 'VALIDATION_ERROR')
  await t.throwsAsync(act('retry', data.job_id), { message: /^also_answered must be true/ })
  await act('retry', data.job_id, { alsoAnswered: true })
  t.is(await hurry(w, data.job_id), 'failed')
})

test('operator act: jobs know what caused them, from a flow to its function to the flow that its record starts', async (t) => {
  const w = await shared()
  const org = await createOrg(w, 'Chains')
  const { list, show } = operatorOf(w)
  const { id } = await createFunction(t, org, handlerOf(`await sdk.records.create('locations', { name: 'made' }); return 1`))
  const noting = await createFunction(t, org, handlerOf('return 2'))
  const second = await createFlow(t, org, {
    ...graph(
      [
        ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }],
        ['f', 'action.run_function', { function_id: noting.id, input: null }],
      ],
      't > f',
    ),
    enabled: true,
  })
  const first = await createFlow(t, org, chain(byHand, ['f', 'action.run_function', { function_id: id, input: null }]))
  const runId = await start(t, org, first.id)
  t.is((await ended(org, first.id, runId)).status, 'ok')
  await w.drain()
  const [outer, inner] = (await list({ workspace: org.id, kind: 'functions.run' }, { sort: 'created_at' })).jobs
  t.deepEqual((await show(outer?.id ?? '')).caused, [{ id: inner?.id, kind: 'functions.run', state: 'done' }])
  t.deepEqual((await show(inner?.id ?? '')).caused_by, { id: outer?.id, kind: 'functions.run', state: 'done' })
  t.is((await show(outer?.id ?? '')).caused_by, null)
  t.truthy(await runOf(org, second.id, ''))
})

test('operator act: an attempt of a killed worker has no end, and the next one begins at another worker', async (t) => {
  const w = await world({}, ['schedule', 'flows', 'data', 'mail'])
  t.teardown(w.close)
  const { list, show } = operatorOf(w)
  const killed = await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(t, w.org, handlerOf(`${waitAtLatch}; return 1`))
  const latch = await createLatch(w.org)
  const call = w.org.owner.post(`${w.org.path}/functions/${id}/invoke`, { input: { latch: latch.id, number: 1 } })
  await eventually(async () => (await listStarted(w.org)).length === 1)
  const [job] = (await list({ kind: 'functions.invoke', state: 'running' })).jobs
  const before = await show(job?.id ?? '')
  t.is(before.attempts.length, 1)
  t.true(before.attempts[0]?.worker.endsWith(`:${killed.pid}`))
  t.is(before.attempts[0]?.ended_at, null)
  await killed.kill('SIGKILL')
  const next = await startWorkerProcess(t, w, 'functions')
  await call
  const { attempts, state } = await show(job?.id ?? '')
  // The function had begun, so the second attempt only fails it.
  t.is(state, 'done')
  t.deepEqual(
    attempts.map(({ worker, ended_at }) => [Number(worker.split(':').at(-1)), ended_at !== null]),
    [
      [killed.pid, false],
      [next.pid, true],
    ],
  )
  t.is(attempts[0]?.error, 'its worker was lost')
  t.is(await countRows(w.db, 'gated_jobs'), 0)
})
