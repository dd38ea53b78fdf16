import test from 'ava'
import { byHand, chain, createFlow, ended, outputsOf, recordsOf, start } from '#test/features/flows/support.ts'
import { createFunction, createLatch, handlerOf, listStarted, waitAtLatch } from '#test/features/functions/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { childrenOf } from '#test/support/living-processes.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

// Functions run in a worker process of their own.
const shared = shareWorld(test, {}, { pools: ['data', 'schedule', 'flows'] })

const interrupted = {
  status: 'failed',
  error: 'INTERNAL at f: The function was started twice, and each time the worker that ran it was lost',
}

test('interrupted: an interrupted function is started at most twice', async (t) => {
  const w = await shared()
  const worker = await startWorkerProcess(t, w, 'functions')
  const kill = () => {
    for (const pid of childrenOf(worker.pid)) process.kill(pid, 'SIGKILL')
  }
  for (const kills of [1, 2]) {
    const org = await createOrg(w)
    const fn = await createFunction(t, org, handlerOf(`${waitAtLatch}; return 'done'`))
    const latch = await createLatch(org)
    const block = ['f', 'action.run_function', { function_id: fn.id, input: { latch: latch.id, number: '1' } }] as const
    const flow = await createFlow(t, org, chain(byHand, block))
    const runId = await start(t, org, flow.id)
    for (let begun = 1; begun <= kills; begun++) {
      await eventually(async () => (await listStarted(org)).length === begun)
      kill()
    }
    if (kills === 1) {
      await eventually(async () => (await listStarted(org)).length === 2)
      await latch.open()
    }
    const run = await ended(org, flow.id, runId)
    await w.drain()
    t.is((await listStarted(org)).length, 2)
    t.is(run.steps.length, 1)
    if (kills === 1) t.deepEqual([run.status, outputsOf(run).f], ['ok', { result: 'done' }])
    else t.like(run, interrupted)
  }
})

test('interrupted: a function whose worker was killed is started by another worker; if that is killed too, the step fails', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  let worker = await startWorkerProcess(t, w, 'functions')
  const fn = await createFunction(t, org, handlerOf(`${waitAtLatch}; return 'done'`))
  const latch = await createLatch(org)
  const block = ['f', 'action.run_function', { function_id: fn.id, input: { latch: latch.id, number: '1' } }] as const
  const behind = ['a', 'action.create_record', { object_type: 'invoices', values: { notes: 'never' } }] as const
  const flow = await createFlow(t, org, chain(byHand, block, behind))
  const runId = await start(t, org, flow.id)
  for (let begun = 1; begun <= 2; begun++) {
    await eventually(async () => (await listStarted(org)).length === begun)
    await worker.kill('SIGKILL')
    worker = await startWorkerProcess(t, w, 'functions')
  }
  const run = await ended(org, flow.id, runId)
  t.like(run, interrupted)
  t.deepEqual(
    run.steps.map(({ node_id, status, error }: typeof run) => [node_id, status, error]),
    [['f', 'failed', interrupted.error]],
  )
  await w.drain()
  t.is((await listStarted(org)).length, 2)
  t.deepEqual(await recordsOf(org, 'invoices'), [])
})
