import test, { type ExecutionContext } from 'ava'
import { requestFor } from '#test/features/functions/sandbox/open-sandbox.ts'
import { executeIn } from '#workers/features/functions/sandbox/run.ts'
import { buildLaunchCommand, runnerFiles } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { encodeFrame } from '#workers/features/functions/sandbox/runner/frames.ts'
import { toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'
import { RunnerPool } from '#workers/features/functions/sandbox/runner/runner-pool.ts'
import { createCpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'
import { createHeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'
import { checkSourceIn } from '#workers/features/functions/sandbox/source-check.ts'

const shared = { heavyWork: createHeavyWorkQueue(), cpuScheduler: createCpuScheduler() }

/** A runner that has been taken over: it says it is ready, and does `code` when it gets its order. */
const takenOver = (code: string): string => `
  const pipe = new (require('node:net').Socket)({ fd: 3, readable: true, writable: true })
  const encodeFrame = ${encodeFrame}
  const send = (kind, number, text) => pipe.write(encodeFrame(kind, number, text))
  const kinds = ${JSON.stringify(toWorker)}
  pipe.once('data', () => { ${code} })
  send(kinds.ready)`

function openPool(t: ExecutionContext, program: string): RunnerPool {
  const pool = new RunnerPool({
    size: 1,
    spare: 0,
    launch: buildLaunchCommand(runnerFiles()),
    program,
    report: (message, details) => t.log(message, details),
  })
  t.teardown(() => pool.close())
  return pool
}

const manyAtOnce = 'more calls at once than allowed'
const crimes: Readonly<Record<string, string>> = {
  'a kind of frame that there is not': 'send(kinds.started); pipe.write(Buffer.from([0, 0, 0, 0, 99, 0, 0, 0, 0]))',
  'a frame longer than its kind may be': 'send(kinds.started); pipe.write(Buffer.from([255, 255, 255, 255, kinds.returned, 0, 0, 0, 0]))',
  'a call of a method that the run was not given': "send(kinds.started); send(kinds.call, 1, 'records.delete\\n[]')",
  [manyAtOnce]: "send(kinds.started); for (let n = 1; n < 10; n++) send(kinds.call, n, 'records.list\\n[]')",
  'more calls than allowed': `send(kinds.started); let n = 0
    const again = () => send(kinds.call, ++n, 'records.list\\n[]')
    pipe.on('data', (answers) => { for (let at = 0; at < answers.length; at += 9 + answers.readUInt32LE(at)) again() }); again()`,
}
for (const [name, code] of Object.entries(crimes)) {
  test(`misbehaviour: a runner that sends ${name} is killed and its run interrupted`, async (t) => {
    const runner = await openPool(t, takenOver(code)).acquire('test')
    const call = () => (name === manyAtOnce ? new Promise(() => undefined) : Promise.resolve())
    const outcome = await executeIn(runner, requestFor('', { call }), 1e9, shared, () => undefined)
    t.like(outcome, { ending: 'interrupted', error: 'the run was interrupted' })
    await runner.gone
    t.regex(runner.stderrTail, /not allowed|may not send/)
  })
}

test('misbehaviour: a result that is not JSON and arguments that are not a list are errors of the run', async (t) => {
  const code =
    "send(kinds.started); send(kinds.call, 1, 'records.list\\n{}'); pipe.once('data', () => { send(kinds.returned, 0, '{}, \"error\": {}'); send(kinds.done) })"
  const runner = await openPool(t, takenOver(code)).acquire('test')
  const outcome = await executeIn(runner, requestFor(''), 1e9, shared, () => undefined)
  t.like(outcome, { ending: 'threw', resultText: 'null', steps: [{ method: 'records.list', is_error: true }] })
  t.regex(outcome?.error ?? '', /^the result is not JSON$/)
})

test('misbehaviour: a runner that reports its end without a result interrupts its run', async (t) => {
  const runner = await openPool(t, takenOver('send(kinds.started); send(kinds.done); send(kinds.returned, 0, 1)')).acquire('test')
  t.like(await executeIn(runner, requestFor(''), 1e9, shared, () => undefined), { ending: 'interrupted', resultText: 'null' })
  await runner.gone
})

test('misbehaviour: a runner that is not ready again in time is replaced', async (t) => {
  const pool = openPool(t, takenOver("send(kinds.started); send(kinds.returned, 0, '1'); send(kinds.done)"))
  const runner = await pool.acquire('test')
  t.like(await executeIn(runner, requestFor(''), 1e9, shared, () => undefined), { resultText: '1' })
  await pool.release('test', runner)
  const next = await pool.acquire('test')
  t.not(next.pid, runner.pid)
})

test('misbehaviour: an order is returned as not started if its runner ended before the start', async (t) => {
  const runner = await openPool(t, takenOver('process.exit()')).acquire('test')
  t.is(await executeIn(runner, requestFor(''), 1e9, shared, () => undefined), null)
})

test('misbehaviour: a request for a runner that cannot be started is rejected with the reason', async (t) => {
  const pool = openPool(t, "throw new Error('no such addon')")
  await t.throwsAsync(pool.acquire('test'), { message: /^a function runner did not start: [\s\S]*no such addon/ })
  const both = await Promise.allSettled([pool.acquire('test'), pool.acquire('test')])
  t.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})

test('misbehaviour: a check with a silent runner reports a source that is too expensive; one whose runner ends is repeated', async (t) => {
  const silent = await openPool(t, takenOver('')).acquire('test')
  t.regex((await checkSourceIn(silent, '', shared.cpuScheduler))?.message ?? '', /too long or too much memory/)
  await silent.gone
  t.is(await checkSourceIn(await openPool(t, takenOver('process.exit()')).acquire('test'), '', shared.cpuScheduler), undefined)
})
