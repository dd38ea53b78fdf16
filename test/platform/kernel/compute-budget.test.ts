import test from 'ava'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { othersCalled, RunningCall } from '#shared/platform/kernel/process/running-calls.ts'
import { type WorkOwner, workOwner } from '#shared/platform/kernel/process/work-owner.ts'
import { eventually } from '#test/support/eventually.ts'

/** Holds the thread for so many milliseconds. */
function hold(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** A call that runs. */
function running(owner: WorkOwner): RunningCall {
  const call = new RunningCall()
  call.countFor(owner)
  return call
}

async function compute(budget: ComputeBudget, slices: number, done: string[], name: string): Promise<void> {
  for (let slice = 0; slice < slices; slice++) {
    hold(4)
    await budget.pause()
    done.push(name)
  }
}

test('compute budget: a budget allows its steps and no more, and its error names the bound', (t) => {
  const budget = computeBudget('w', { steps: 10, bound: 'filter: at most 10 steps' })
  budget.takeSteps(4)
  budget.takeSteps(6)
  t.is(budget.left, 0)
  const error = t.throws(() => budget.takeSteps(1), { instanceOf: Problem })
  t.is(error.code, 'VALIDATION_ERROR')
  t.is(error.message, 'filter: at most 10 steps')
})

test('compute budget: a pause after a slice yields the thread', async (t) => {
  const budget = computeBudget('w', { steps: 1, bound: '' })
  let isOther = false
  setImmediate(() => {
    isOther = true
  })
  hold(4)
  t.true(budget.isPauseDue())
  await budget.pause()
  t.true(isOther)
})

test('compute budget: workspaces compute in turn, however many computations each has', async (t) => {
  const done: string[] = []
  const many = [1, 2, 3, 4, 5].map(() => compute(computeBudget('many', { steps: 1, bound: '' }), 4, done, 'many'))
  const one = compute(computeBudget('one', { steps: 1, bound: '' }), 4, done, 'one')
  await Promise.all([...many, one])
  // Each of two workspaces has every second slice, so the four of one end within about the first ten of 24.
  t.true(done.lastIndexOf('one') < 12, done.join(' '))
})

test('compute budget: the workspaces of one owner compute as one workspace does, and in turn', async (t) => {
  const done: string[] = []
  const begin = (owner: string, name: string) => compute(computeBudget(owner, { steps: 1, bound: '' }), 4, done, name)
  const busy = [1, 2, 3].map(() => begin(workOwner('a', 'owner'), 'a'))
  const others = [1, 2, 3, 4, 5, 6].map((each) => begin(workOwner(`b${each}`, 'owner'), `b${each}`))
  await Promise.all([...busy, ...others, begin('one', 'one')])
  // 'one' has every second slice, so its four end within about the first ten of 40.
  t.true(done.lastIndexOf('one') < 12, done.join(' '))
  t.true(done.indexOf('b6') < done.lastIndexOf('a'), done.join(' '))
})

test('compute budget: calls of the workspaces of one owner are no calls of others', async (t) => {
  const calls = [running(workOwner('a', 'owner')), running(workOwner('b', 'owner'))]
  let isOver = false
  hold(4)
  const paused = computeBudget(workOwner('a', 'owner'), { steps: 1, bound: '' })
    .pause()
    .then(() => {
      isOver = true
    })
  // The next slice begins in the next turn of the event loop, before any timer.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  t.true(isOver)
  await paused
  t.false(othersCalled('owner'))
  for (const call of calls) call.end()
})

test('compute budget: input and output are served between the slices of many computations', async (t) => {
  const done: string[] = []
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all([1, 2, 3, 4, 5].map((each) => compute(computeBudget(`w${each}`, { steps: 1, bound: '' }), 4, done, '')))
  isOver = true
  t.true(turns >= 15, `${turns} turns of the loop for 20 slices`)
})

test('compute budget: a call that ends twice is counted once', async (t) => {
  const over = [running(null), running(null)]
  for (const call of over) call.end()
  for (const call of over) call.end()
  const call = running(null)
  const budget = computeBudget('w', { steps: 1, bound: '' })
  hold(4)
  await budget.pause()
  call.end()
  t.pass()
})

test('compute budget: a call that awaits its operation is not counted', async (t) => {
  const calls = [running(null), running(null)]
  const budget = computeBudget('w', { steps: 1, bound: '' })
  const isNext = async () => {
    hold(4)
    let isOver = false
    const paused = budget.pause().then(() => {
      isOver = true
    })
    // Without other calls the next slice begins in the next turn of the event loop, before any timer.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    const began = isOver
    await paused
    return began
  }
  t.false(await isNext(), 'two calls, one of which computes')
  // A call of an earlier test may end late, and counts until then.
  await eventually(async () => (await calls[0]?.waitUncounted(isNext)) === true)
  for (const call of calls) call.end()
})
