import { monitorEventLoopDelay } from 'node:perf_hooks'
import test from 'ava'
import { hostileBodies, hostileSources } from '#test/features/functions/sandbox/hostile-sources.ts'
import { requestFor, runBody } from '#test/features/functions/sandbox/open-sandbox.ts'
import { goneProcess, residentBytes } from '#test/support/living-processes.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

const timeoutMs = 500
/** Bound of the time that ending a run takes, on a busy machine too; an endless run would take minutes. */
const graceMs = 20_000

test('sandbox hostile: no hostile function exceeds its time, harms another run, or leaves a process behind', async (t) => {
  const sandbox = new Sandbox({ size: 4, memoryMb: 128 })
  t.teardown(() => sandbox.close())
  // Stalls of the machine are not counted against the function.
  const stalls = monitorEventLoopDelay()
  stalls.enable()
  const pids = new Set<number>()
  const honest = async (input: number): Promise<void> => {
    const body =
      "console.log('n', input); const [n] = await sdk.records.list(input); return { n, own: ({}).polluted ?? null, text: JSON.stringify([n]) }"
    const outcome = await runBody(sandbox, body, { input })
    t.deepEqual(JSON.parse(outcome.resultText), { n: input, own: null, text: `[${input}]` })
    t.like(outcome, { error: null, logs: [{ level: 'log', msg: `n ${input}` }], steps: [{ method: 'records.list', is_error: false }] })
  }
  const hostile = async (name: string, source: string): Promise<void> => {
    const outcome = await sandbox.run(requestFor(source, { timeoutMs }))
    for (const pid of sandbox.pids) pids.add(pid)
    t.true(outcome.durationMs <= timeoutMs + graceMs + stalls.max / 1e6, `${name} took ${outcome.durationMs} ms`)
    t.not(outcome.ending, 'interrupted', name)
    t.true(outcome.resultText.length <= runLimits.jsonCharacters, name)
    t.is(outcome.ending === 'timed_out', outcome.error === 'timed out', name)
  }

  const todo = hostileSources()
  t.true(todo.length >= 44)
  const lane = async (): Promise<void> => {
    for (let next = todo.pop(); next; next = todo.pop()) await Promise.all([hostile(next.name, next.source), honest(todo.length)])
  }
  await Promise.all([lane(), lane(), lane(), lane()])

  await Promise.all([honest(1), honest(2), honest(3), honest(4)])
  t.true(sandbox.pids.length <= 4)
  for (const pid of sandbox.pids) {
    t.true(residentBytes(pid) < 110 * 1024 * 1024, `a runner at rest holds ${residentBytes(pid)} bytes`)
  }
  await sandbox.close()
  t.true(pids.size > 4, 'runners were replaced')
  for (const pid of pids) await goneProcess(pid)
})

test('sandbox hostile: hostile functions that end by themselves have the expected result', async (t) => {
  const sandbox = new Sandbox({ size: 1, memoryMb: 128 })
  t.teardown(() => sandbox.close())
  const named = async (name: string) =>
    await sandbox.run(requestFor(`function handler() { return eval(${JSON.stringify(hostileBodies[name])}) }`))
  t.is((await named('process_probe')).resultText, '"undefinedundefinedundefined"')
  t.is((await named('structured_labels')).resultText, '1')
  t.is((await named('sab_many')).error, 'SharedArrayBuffer is not defined')
  t.is((await named('wasm_grow')).error, 'WebAssembly is not defined')
  t.is((await named('atomics_wait')).error, 'Atomics is not defined')
  t.is((await named('recursion')).error, 'Maximum call stack size exceeded')
  t.is((await named('bigint_pow')).error, 'the result cannot be written as JSON: Do not know how to serialize a BigInt')
  for (const name of ['arraybuffer_many', 'heap_array_push', 'normalize_big', 'return_huge_result']) {
    t.is((await named(name)).error, 'memory limit exceeded', name)
  }
})
