import test from 'ava'
import { createBoundedQueue } from '#shared/platform/kernel/process/semaphore.ts'

const overloaded = { code: 'OVERLOADED', message: 'It is busy; try again soon' }

test('bounded queue: work waits in order, and one more than may wait is OVERLOADED at once', async (t) => {
  const run = createBoundedQueue({ slots: 1, maxWaiting: 2, maxWaitMs: 60_000, busy: 'It is busy' })
  const held = Promise.withResolvers<void>()
  const order: string[] = []
  const first = run(() => held.promise)
  const waiting = ['a', 'b'].map((name) => run(async () => void order.push(name)))
  await t.throwsAsync(
    run(async () => void order.push('c')),
    overloaded,
  )
  held.resolve()
  await Promise.all([first, ...waiting])
  t.deepEqual(order, ['a', 'b'])
  t.is(await run(async () => 1), 1)
})

test('bounded queue: work that waits too long is OVERLOADED, and others get the slot', async (t) => {
  const run = createBoundedQueue({ slots: 1, maxWaiting: 2, maxWaitMs: 1, busy: 'It is busy' })
  const held = Promise.withResolvers<void>()
  const first = run(() => held.promise)
  await t.throwsAsync(
    run(async () => t.fail()),
    overloaded,
  )
  held.resolve()
  await first
  t.is(await run(async () => 1), 1)
})

test('bounded queue: work that fails frees its slot', async (t) => {
  const run = createBoundedQueue({ slots: 1, maxWaiting: 0, maxWaitMs: 1, busy: 'It is busy' })
  await t.throwsAsync(
    run(() => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.is(await run(async () => 1), 1)
})
