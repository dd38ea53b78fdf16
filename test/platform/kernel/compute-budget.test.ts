import test from 'ava'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { trackCall, waitUntracked } from '#shared/platform/kernel/process/thread-share.ts'

/** Holds the thread for so many milliseconds. */
function hold(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
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
  const over = [trackCall(), trackCall()]
  for (const end of over) end()
  for (const end of over) end()
  const end = trackCall()
  const budget = computeBudget('w', { steps: 1, bound: '' })
  hold(4)
  await budget.pause()
  end()
  t.pass()
})

test('compute budget: a call that awaits its operation is not counted', async (t) => {
  const ends = [trackCall(), trackCall()]
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
  t.true(await waitUntracked(undefined, isNext))
  for (const end of ends) end()
})
