import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import { createHeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'

const long = runnerLimits.inlineCharacters + 1
const [one, other] = ['one', 'other']

test('heavy work: light work is done at once, heavy work one piece at a time, with its owners in rotation', async (t) => {
  const { enqueue } = createHeavyWorkQueue()
  const done: string[] = []
  const heavy = (owner: string, name: string) => enqueue(owner, long, () => done.push(name))
  const all = [heavy(one, 'first'), heavy(one, 'second'), heavy(one, 'third'), heavy(other, 'of another')]
  t.deepEqual(done, ['first'])
  void enqueue(one, runnerLimits.inlineCharacters, () => done.push('light'))
  t.deepEqual(done, ['first', 'light'])
  await Promise.all(all)
  t.deepEqual(done, ['first', 'light', 'second', 'of another', 'third'])
})

test('heavy work: a pause of four times its duration follows each piece of heavy work', async (t) => {
  const { enqueue } = createHeavyWorkQueue()
  const busyMs = 20
  let ended = 0
  await enqueue(one, long, () => {
    const started = performance.now()
    while (performance.now() - started < busyMs);
    ended = performance.now()
  })
  t.true((await enqueue(one, long, () => performance.now())) - ended >= runnerLimits.pauseFactor * busyMs - 1)
})

test('heavy work: an error rejects only its own piece, and the next piece follows', async (t) => {
  const { enqueue } = createHeavyWorkQueue()
  const fails = enqueue(one, long, () => {
    throw new Error('no JSON')
  })
  const next = enqueue(one, long, () => 'next')
  await t.throwsAsync(fails, { message: 'no JSON' })
  t.is(await next, 'next')
  // Longer than the pause after these pieces, so that the queue is idle again.
  await setTimeout(5)
  t.is(await enqueue(one, long, () => 'later'), 'later')
})
