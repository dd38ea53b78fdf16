import { readFileSync } from 'node:fs'
import test from 'ava'
import { needs } from '#test/features/functions/sandbox/confined.ts'
import { requestFor, resultOf } from '#test/features/functions/sandbox/open-sandbox.ts'
import { eventually } from '#test/support/eventually.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'
import { type CpuConsumer, type CpuScheduler, createCpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

const idle = () => 0

/** A consumer that is always busy, unless `busyMs` says otherwise, and records whether it may run. */
function fake(owner: string, busyMs = () => 1_000 + performance.now()) {
  const state = { runs: true, resumed: 0 }
  const one: CpuConsumer = {
    owner,
    busyMs,
    pause: () => {
      state.runs = false
    },
    resume: () => {
      state.runs = true
      state.resumed += 1
    },
  }
  return Object.assign(one, { state })
}

/** Begins and ends a short run. */
function passShort(turns: CpuScheduler): void {
  const short = fake('short', idle)
  turns.begin(short)
  turns.leave(short)
}

/** Waits for a condition while short runs come and go. */
async function waitBesideShortRuns(turns: CpuScheduler, isMet: () => boolean): Promise<void> {
  await eventually(() => {
    passShort(turns)
    return isMet()
  })
}

test('busy turns: busy runs are not paused if there are no others', (t) => {
  const turns = createCpuScheduler(4)
  const all = ['a', 'b', 'c', 'd'].map((owner) => fake(owner))
  for (const one of all) turns.reportBusy(one)
  t.true(all.every(({ state }) => state.runs))
  for (const one of all) turns.leave(one)
})

test('busy turns: beside short runs, busy runs get a quarter of the cores, and each end resumes the next', (t) => {
  const turns = createCpuScheduler(8)
  const all = ['a', 'b', 'c', 'd'].map((owner) => fake(owner))
  const running = () => all.map(({ state }) => state.runs)
  passShort(turns)
  for (const one of all) turns.reportBusy(one)
  t.deepEqual(running(), [true, true, false, false])
  for (const one of all.slice(0, 2)) turns.leave(one)
  t.deepEqual(running(), [true, true, true, true])
  for (const one of all) turns.leave(one)
})

test('busy turns: busy runs are resumed in rotation', async (t) => {
  const turns = createCpuScheduler(1)
  const all = ['a', 'b', 'c'].map((owner) => fake(owner))
  passShort(turns)
  for (const one of all) turns.reportBusy(one)
  await waitBesideShortRuns(turns, () => all.every(({ state }) => state.resumed > 2))
  for (const one of all) turns.leave(one)
  t.true(all.every(({ state }) => state.runs))
})

test('busy turns: an owner with many busy runs gets no more turns than an owner with one', async (t) => {
  const turns = createCpuScheduler(1)
  const [single, ...many] = ['b', 'a', 'a', 'a', 'a'].map((owner) => fake(owner))
  if (!single) return t.fail()
  passShort(turns)
  for (const one of [...many, single]) turns.reportBusy(one)
  await waitBesideShortRuns(turns, () => single.state.resumed >= 12)
  const resumed = many.map(({ state }) => state.resumed)
  // Each of the four has a quarter as many; one more for every time that the machine stood still for a second.
  t.true(Math.max(...resumed) < 9, `${resumed} turns beside 12`)
  for (const one of [...many, single]) turns.leave(one)
})

test('busy turns: a run that does not use its turn gets no more turns', async (t) => {
  const turns = createCpuScheduler(1)
  const [waiting, busy] = [fake('a', idle), fake('b')]
  passShort(turns)
  turns.reportBusy(waiting)
  turns.reportBusy(busy)
  t.false(busy.state.runs)
  await waitBesideShortRuns(turns, () => waiting.state.runs && busy.state.runs)
  for (const one of [waiting, busy]) turns.leave(one)
})

test('busy turns: a new run of an owner with a long busy run is paused from its start, and one of another owner is not', (t) => {
  const turns = createCpuScheduler(1)
  const [first, next, brief, other] = [fake('a'), fake('a'), fake('b', () => 50), fake('b')]
  passShort(turns)
  turns.reportBusy(first)
  turns.reportBusy(brief)
  turns.begin(next)
  turns.begin(other)
  t.deepEqual([first.state.runs, next.state.runs, other.state.runs], [true, false, true])
  for (const one of [first, next, brief, other]) turns.leave(one)
})

// What outlives its worker is never stopped.
needs('privileges')('busy turns: a busy run is stopped during the turn of another, and ends', async (t) => {
  const turns = createCpuScheduler(1)
  const sandbox = new Sandbox({ size: 3, memoryMb: 128, cpuScheduler: turns })
  t.teardown(() => sandbox.close())
  const over = new AbortController()
  const endless = [1, 2].map(() => sandbox.run(requestFor('function handler() { for (;;); }', { signal: over.signal })))
  const someStopped = () => sandbox.pids.some((pid) => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') T '))
  await waitBesideShortRuns(turns, someStopped)
  const long = resultOf(t, sandbox, 'const end = Date.now() + 200; let n = 0; while (Date.now() < end) n++; return n > 0', {
    owner: 'other',
  })
  let isDone = false
  void long.finally(() => {
    isDone = true
  })
  await waitBesideShortRuns(turns, () => isDone)
  t.true(await long)
  over.abort()
  for (const { ending } of await Promise.all(endless)) t.is(ending, 'interrupted')
})
