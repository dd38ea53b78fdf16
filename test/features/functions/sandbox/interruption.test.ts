import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import test from 'ava'
import { openSandbox, requestFor, resultOf, runBody, stuckCall } from '#test/features/functions/sandbox/open-sandbox.ts'
import { times } from '#test/support/depth.ts'
import { goneProcess, isAlive } from '#test/support/living-processes.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

const interrupted = { ending: 'interrupted', error: 'the run was interrupted', result: null, resultText: 'null' } as const

test('interruption: a runner killed during a run interrupts only that run, repeatedly', async (t) => {
  const sandbox = openSandbox(t)
  for (let round = 0; round < times(6, 20); round++) {
    const stuck = stuckCall()
    const run = runBody(sandbox, "console.log('so far'); await sdk.records.list()", { call: stuck.call })
    const signal = await stuck.made
    const [pid = 0] = sandbox.pids
    process.kill(pid, 'SIGKILL')
    const outcome = await run
    t.like(outcome, { ...interrupted, logs: [{ level: 'log', msg: 'so far' }], steps: [{ method: 'records.list', is_error: true }] })
    t.true(signal.aborted)
    t.is(await resultOf(t, sandbox, 'return input', { input: round }), round)
    t.is(sandbox.pids.length, 1)
    t.false(sandbox.pids.includes(pid))
  }
})

test('interruption: a runner killed while idle is replaced before the next run', async (t) => {
  const sandbox = openSandbox(t)
  await resultOf(t, sandbox, 'return 1')
  const [pid = 0] = sandbox.pids
  process.kill(pid, 'SIGKILL')
  t.is(await resultOf(t, sandbox, 'return 2'), 2)
})

test('interruption: aborting the signal ends a run at once and frees its place', async (t) => {
  const sandbox = openSandbox(t)
  const stop = new AbortController()
  const stuck = stuckCall()
  const run = runBody(sandbox, 'sdk.records.list(); for (;;) {}', { call: stuck.call, signal: stop.signal })
  await stuck.made
  stop.abort()
  t.like(await run, interrupted)
  t.is(await resultOf(t, sandbox, 'return 1'), 1)
})

test('interruption: a run whose signal is aborted before it has a runner never starts', async (t) => {
  const sandbox = openSandbox(t)
  const stuck = stuckCall()
  const first = new AbortController()
  const running = runBody(sandbox, 'await sdk.records.list()', { call: stuck.call, signal: first.signal })
  await stuck.made
  const second = new AbortController()
  const waiting = runBody(sandbox, 'return 1', { signal: second.signal })
  second.abort()
  t.deepEqual(await waiting, { ...interrupted, logs: [], steps: [], durationMs: 0, cpuMs: 0 })
  t.deepEqual(await runBody(sandbox, 'return 1', { signal: AbortSignal.abort() }), {
    ...interrupted,
    logs: [],
    steps: [],
    durationMs: 0,
    cpuMs: 0,
  })
  first.abort()
  t.like(await running, interrupted)
  t.is(await resultOf(t, sandbox, 'return 2'), 2)
})

test('interruption: a runner ignores the signals that a terminal or a supervisor sends to the process group', async (t) => {
  const sandbox = openSandbox(t)
  const stuck = Promise.withResolvers<number>()
  const made = Promise.withResolvers<void>()
  const call = () => {
    made.resolve()
    return stuck.promise
  }
  const run = resultOf(t, sandbox, 'return sdk.records.list()', { call })
  await made.promise
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(sandbox.pids[0] ?? 0, signal)
  stuck.resolve(7)
  t.is(await run, 7)
})

test('interruption: closing ends running runs as interrupted, refuses waiting ones and leaves no process', async (t) => {
  const sandbox = new Sandbox({ size: 1, memoryMb: 128 })
  const stuck = stuckCall()
  const running = runBody(sandbox, 'await sdk.records.list()', { call: stuck.call })
  await stuck.made
  const waiting = runBody(sandbox, 'return 1')
  const { pids } = sandbox
  await Promise.all([sandbox.close(), t.throwsAsync(waiting, { message: 'the function sandbox is closed' })])
  t.like(await running, interrupted)
  t.deepEqual(pids.filter(isAlive), [])
  await t.throwsAsync(sandbox.run(requestFor('function handler() {}')), { message: 'the function sandbox is closed' })
  await sandbox.close()
})

test('interruption: runners die with the worker, also in the middle of an endless loop', async (t) => {
  const worker = spawn(process.execPath, [new URL('endless-worker.ts', import.meta.url).pathname], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => worker.kill('SIGKILL'))
  const [line] = (await once(createInterface(worker.stdout), 'line')) as [string]
  const pids = JSON.parse(line) as number[]
  t.is(pids.filter(isAlive).length, 2)
  worker.kill('SIGKILL')
  for (const pid of pids) await goneProcess(pid)
  t.pass()
})
