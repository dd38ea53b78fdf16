import test from 'ava'
import { openSandbox, requestFor, resultOf, runBody } from '#test/features/functions/sandbox/open-sandbox.ts'
import { residentBytes } from '#test/support/living-processes.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'

const cutLine = { level: 'warn', msg: 'output was cut: a run may print 1000 lines or 256 KB' }

test('limits: the 10,001st SDK call throws, and is not recorded as a step', async (t) => {
  let calls = 0
  const body = `for (let n = 0; n < 100; n++) await Promise.all(Array.from({ length: 100 }, () => sdk.records.list(n)))
    try { await sdk.records.list() } catch (error) { return [error instanceof Error, error.code, error.message] }`
  const outcome = await runBody(openSandbox(t), body, { call: async () => ++calls, timeoutMs: 120_000 })
  t.deepEqual(JSON.parse(outcome.resultText), [true, 'RATE_LIMITED', 'a run may make 10000 SDK calls'])
  t.is(calls, 10_000)
  t.is(outcome.steps.length, 10_000)
  t.true(outcome.steps.every((step) => step.method === 'records.list' && !step.is_error))
})

test('limits: 1,000 lines are kept whole; the 1,001st is replaced by one that says that output was cut', async (t) => {
  const sandbox = openSandbox(t)
  const print = (lines: number) => runBody(sandbox, `for (let n = 1; n <= ${lines}; n++) console.log('line', n)`)
  const whole = (await print(1_000)).logs
  t.is(whole.length, 1_000)
  t.deepEqual(whole.at(-1), { level: 'log', msg: 'line 1000' })
  for (const lines of [1_001, 100_000]) {
    const { logs, error } = await print(lines)
    t.is(error, null)
    t.is(logs.length, 1_001)
    t.deepEqual(logs.slice(-2), [{ level: 'log', msg: 'line 1000' }, cutLine])
  }
})

test('limits: 256 KB of output are kept whole; one byte more is cut', async (t) => {
  const sandbox = openSandbox(t)
  const print = async (text: string) => (await runBody(sandbox, `console.log('x'.repeat(1024)); console.error(${text})`)).logs
  const whole = await print("'y'.repeat(255 * 1024)")
  t.deepEqual(
    whole.map(({ msg }) => msg.length),
    [1024, 255 * 1024],
  )
  for (const text of ["'y'.repeat(255 * 1024 + 1)", "'y'.repeat(257 * 1024)", "'y'.repeat(100_000_000)"]) {
    const cut = await print(text)
    t.deepEqual(
      cut.map(({ msg }) => msg.length),
      [1024, 255 * 1024, cutLine.msg.length],
      text,
    )
    t.deepEqual(cut.at(-1), cutLine)
  }
})

test('limits: output is counted in bytes of UTF-8 and cut between characters', async (t) => {
  const { logs } = await runBody(openSandbox(t), "console.log('x' + '😀'.repeat(70_000)); console.log('more')")
  t.is(logs.length, 2)
  t.is(logs[0]?.msg, `x${'😀'.repeat(65_535)}`)
  t.deepEqual(logs[1], cutLine)
})

test('limits: a source may have 256 KB, counted in bytes', async (t) => {
  const sandbox = openSandbox(t)
  const fits = `function handler() { return 1 }\n//${'é'.repeat((256 * 1024 - 34) / 2)}`
  t.is(Buffer.byteLength(fits), 256 * 1024)
  t.is((await sandbox.run(requestFor(fits))).resultText, '1')
  await t.throwsAsync(sandbox.run(requestFor(`${fits}x`)), {
    code: 'VALIDATION_ERROR',
    message: 'source must have at most 256 KB',
  })
})

test('limits: a result may have 4 MB of JSON; a longer one is an error', async (t) => {
  const sandbox = openSandbox(t)
  const most = runLimits.jsonCharacters - 2
  t.is((await runBody(sandbox, `return 'é'.repeat(${most})`)).resultText, `"${'é'.repeat(most)}"`)
  const tooLong = 'the result has more than 4194304 characters of JSON'
  for (const length of [most + 1, 50_000_000]) t.is((await runBody(sandbox, `return 'x'.repeat(${length})`)).error, tooLong)
})

test('limits: a result too large for the memory of a run is an error too', async (t) => {
  const { error, ending } = await runBody(openSandbox(t), "return Array.from({ length: 300 }, (_, n) => n + 'x'.repeat(1_000_000))")
  t.is(ending, 'out_of_memory')
  t.is(error, 'memory limit exceeded')
})

test('limits: an input larger than 4 MB of JSON is refused', async (t) => {
  const sandbox = openSandbox(t)
  const most = runLimits.jsonCharacters - 2
  t.is(await resultOf(t, sandbox, 'return input.length', { input: 'x'.repeat(most) }), most)
  await t.throwsAsync(runBody(sandbox, '', { input: 'x'.repeat(most + 1) }), { message: /^input must have at most 4194304 characters/ })
})

test('limits: the arguments of an SDK call have at most 1 MB of JSON, its answer 4 MB', async (t) => {
  const body = `const failures = []
    for (const value of ['x'.repeat(${runLimits.argumentCharacters}), 1]) {
      try { await sdk.records.list(value) } catch (error) { failures.push([error.code, error.message]) }
    }
    return failures`
  const { resultText, steps } = await runBody(openSandbox(t), body, { call: async () => 'x'.repeat(runLimits.jsonCharacters) })
  t.deepEqual(JSON.parse(resultText), [
    ['VALIDATION_ERROR', 'the arguments have more than 1048576 characters of JSON'],
    ['VALIDATION_ERROR', 'the answer has more than 4194304 characters of JSON: ask for less at a time'],
  ])
  t.deepEqual(steps, [{ method: 'records.list', is_error: true }])
})

test('limits: 1,000 timers may be set at a time', async (t) => {
  const body = `let fired = 0
    const set = () => { for (let n = 0; n < 1_000; n++) setTimeout(() => fired++, 1) }
    set()
    try { setTimeout(() => 1, 1); return 'one too many' } catch (error) { if (!/1000 timers/.test(error.message)) throw error }
    while (fired < 1_000) await sdk.records.list()
    set()
    return 'and again'`
  t.is(await resultOf(t, openSandbox(t), body), 'and again')
})

test('limits: an error message is cut at 8,192 characters', async (t) => {
  const { error } = await runBody(openSandbox(t), "throw new Error('x'.repeat(50_000_000))")
  t.is(error, 'x'.repeat(8_192))
})

const memoryHogs: Readonly<Record<string, string>> = {
  arrays: 'const a = []; for (;;) a.push(new Array(1000).fill(1.1))',
  'one huge array': 'return new Array(1e9).fill(0)',
  buffers: 'const a = []; for (;;) a.push(new Uint8Array(16e6).fill(7))',
  'text that the engine makes outside its heap': "return '\\ufdfa'.repeat(2e7).normalize('NFKD').length",
  'a map': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)',
}

test('limits: a run that wants more than its memory ends with "memory limit exceeded", and the next has all of it', async (t) => {
  const sandbox = openSandbox(t)
  for (const [name, body] of Object.entries(memoryHogs)) {
    t.like(
      // A busy machine takes long to give a run so much memory.
      await runBody(sandbox, body, { timeoutMs: 120_000 }),
      { ending: 'out_of_memory', error: 'memory limit exceeded', resultText: 'null' },
      name,
    )
    t.is(await resultOf(t, sandbox, 'const a = []; for (let n = 0; n < 6; n++) a.push(new Uint8Array(15e6).fill(1)); return a.length'), 6)
  }
})

test('limits: runs may use most of their memory repeatedly, and no runner keeps it', async (t) => {
  const sandbox = openSandbox(t)
  const body = 'const a = []; for (let n = 0; n < 100_000; n++) a.push(new Array(100).fill(n + 0.1)); return a.length'
  for (let run = 0; run < 5; run++) t.is(await resultOf(t, sandbox, body), 100_000)
  await resultOf(t, sandbox, 'return 1')
  t.true(residentBytes(sandbox.pids[0] ?? 0) < 110 * 1024 * 1024, 'a runner that kept the memory was replaced')
})
