import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { watch } from '#workers/features/functions/sandbox/limits.ts'
import { heavyWork } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'

const long = watch.lightCharacters + 1
const [one, other] = ['one', 'other']

test('light work is done at once, heavy work one piece after the other, its owners in turn', async (t) => {
  const { turn } = heavyWork()
  const done: string[] = []
  const heavy = (owner: string, name: string) => turn(owner, long, () => done.push(name))
  const all = [heavy(one, 'first'), heavy(one, 'second'), heavy(one, 'third'), heavy(other, 'of another')]
  t.deepEqual(done, ['first'])
  void turn(one, watch.lightCharacters, () => done.push('light'))
  t.deepEqual(done, ['first', 'light'])
  await Promise.all(all)
  t.deepEqual(done, ['first', 'light', 'second', 'of another', 'third'])
})

test('after a piece of heavy work everything else has its turn for four times as long', async (t) => {
  const { turn } = heavyWork()
  const busyMs = 20
  let ended = 0
  await turn(one, long, () => {
    const started = performance.now()
    while (performance.now() - started < busyMs);
    ended = performance.now()
  })
  t.true((await turn(one, long, () => performance.now())) - ended >= watch.restsTimes * busyMs - 1)
})

test('what heavy work throws is its own, and the next has its turn', async (t) => {
  const { turn } = heavyWork()
  const fails = turn(one, long, () => {
    throw new Error('no JSON')
  })
  const next = turn(one, long, () => 'next')
  await t.throwsAsync(fails, { message: 'no JSON' })
  t.is(await next, 'next')
  await setTimeout(5)
  t.is(await turn(one, long, () => 'later'), 'later')
})
