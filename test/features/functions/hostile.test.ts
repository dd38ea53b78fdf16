import { monitorEventLoopDelay } from 'node:perf_hooks'
import test from 'ava'
import { readGate } from '#test/features/functions/rows.ts'
import { hostileSources } from '#test/features/functions/sandbox/hostile-sources.ts'
import { createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { childrenOf, goneProcess, residentBytes } from '#test/support/living-processes.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

const shared = shareWorld(test, {}, { pools: ['data', 'schedule'] })

const timeoutMs = 500
/** Bound of the time that ending a run takes, on a busy machine too; an endless run would take minutes. */
const graceMs = 20_000

test('functions hostile: hostile functions of one workspace harm no call of another, nor the worker that runs them', async (t) => {
  const w = await shared()
  const worker = await startWorkerProcess(t, w, 'functions')
  const honest = await createOrg(w, 'Honest')
  const source = handlerOf(`
    const { id } = await sdk.records.create('locations', { name: 'n' + input })
    const { values } = await sdk.records.get('locations', id)
    return { name: values.name, own: ({}).polluted ?? null, text: JSON.stringify([input]) }`)
  const { id } = await createFunction(t, honest, source)
  const pids = new Set<number>()
  // Stalls of the machine are not counted against the function.
  const stalls = monitorEventLoopDelay()
  stalls.enable()

  const runHonest = async (number: number): Promise<void> => {
    const run = await invoke(t, honest, id, number)
    t.deepEqual(run.result, { name: `n${number}`, own: null, text: `[${number}]` })
    t.false('error' in run || run.timed_out)
    for (const pid of childrenOf(worker.pid)) pids.add(pid)
  }
  const runHostile = async (name: string, code: string): Promise<void> => {
    const made = await w.org.owner.post(`${w.org.path}/functions`, { name, source: code, timeout_ms: timeoutMs })
    if (made.status === 400) {
      t.regex(made.body.error.message, /^source, line \d+, column \d+: /, name)
      return
    }
    const run = await invoke(t, w.org, made.data.id)
    t.true(run.duration_ms <= timeoutMs + graceMs + stalls.max / 1e6, `${name} took ${run.duration_ms} ms`)
    t.not(run.error, 'the run was interrupted', name)
    t.is(run.timed_out, run.error === 'timed out', name)
  }

  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(runHonest))
  const before = residentBytes(worker.pid)
  const todo = hostileSources()
  t.true(todo.length >= 44)
  const lane = async (): Promise<void> => {
    for (let next = todo.pop(); next; next = todo.pop()) await Promise.all([runHostile(next.name, next.source), runHonest(todo.length)])
  }
  let over = false
  const asking = (async () => {
    // A pause between requests, not a wait: 50 a second at most beside the hostile runs.
    for (; !over; await new Promise((resolve) => setTimeout(resolve, 20))) {
      t.is((await honest.owner.get(`${honest.path}/records/locations?limit=1`)).status, 200)
    }
  })()
  await Promise.all([lane(), lane(), lane(), lane()]).finally(() => {
    over = true
  })
  await asking

  await Promise.all([1, 2, 3, 4].map(runHonest))
  t.deepEqual(await readGate(w.db, w.org.id), { admitted: 0, waiting: 0 })
  if (before > 0) await eventually(async () => residentBytes(worker.pid) < before + 50 * 1024 * 1024)
  await worker.kill('SIGKILL')
  t.true(pids.size > 8, 'runners were replaced')
  for (const pid of pids) await goneProcess(pid)
})
