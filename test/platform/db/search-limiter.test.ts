import test from 'ava'
import { ConnectionShares } from '#shared/platform/db/pool/connection-shares.ts'
import { LongWaits } from '#shared/platform/db/pool/long-waits.ts'
import { SearchLimiter } from '#shared/platform/db/pool/search-limiter.ts'
import { eventually } from '#test/support/eventually.ts'

const none = () => undefined

/** A limiter whose workspaces use the connections of `shares`. */
function limiter(inAll: number, shares = new ConnectionShares(16, none)) {
  const searches = new SearchLimiter({ perWorkspace: 2, inAll, othersUseFor: (id) => shares.othersUseFor(id) })
  const admitted: string[] = []
  const take = (id: string): boolean => {
    const admission = searches.acquire(id)
    void admission?.then(() => admitted.push(id), none)
    return admission === undefined
  }
  return { searches, shares, admitted, take }
}

test('search limiter: a workspace has as many as processors, and one while another one holds a connection', async (t) => {
  const { searches, shares, admitted, take } = limiter(12)
  t.deepEqual([take('a'), take('a'), take('a')], [true, true, false])
  shares.acquire('b')
  searches.release('a')
  await Promise.resolve()
  t.deepEqual(admitted, [], 'the other one still runs')
  searches.release('a')
  await Promise.resolve()
  t.deepEqual(admitted, ['a'])
  t.false(take('a'))
  searches.close()
})

test('search limiter: a workspace that becomes alone has all of its slots again after a second', async (t) => {
  const { searches, shares, admitted, take } = limiter(12)
  shares.acquire('b')
  t.deepEqual([take('a'), take('a')], [true, false])
  t.is(shares.othersUseFor('a'), 1_000)
  shares.release('b')
  const left = shares.othersUseFor('a')
  t.true(left > 0 && left <= 1_000)
  await eventually(() => admitted.length === 1)
  t.is(shares.othersUseFor('a'), 0)
  searches.close()
})

test('search limiter: a search is admitted although the use of the others ends right after it was refused', async (t) => {
  const uses = [5, 0, 0]
  const searches = new SearchLimiter({ perWorkspace: 2, inAll: 12, othersUseFor: () => uses.shift() ?? 0 })
  t.is(searches.acquire('a'), undefined)
  await searches.acquire('a')
  // Refused again at the next look, in the same way.
  uses.push(5, 5, 5, 0)
  searches.release('a')
  await searches.acquire('a')
  t.is(searches.waiting, 0)
  searches.close()
})

test('search limiter: the platform is no other workspace, and a workspace is none to itself', (t) => {
  const { searches, shares, take } = limiter(12)
  shares.acquire(null)
  shares.acquire('a')
  shares.release('a')
  t.is(shares.othersUseFor('a'), 0)
  t.deepEqual([take('a'), take('a')], [true, true])
  shares.acquire('b')
  shares.release('b')
  shares.acquire('a')
  shares.release('a')
  t.true(shares.othersUseFor('a') > 0, 'b, before the last use of a')
  searches.close()
})

test('search limiter: workspaces alternate where all together have no more', async (t) => {
  const { searches, admitted, take } = limiter(3)
  for (const id of ['a', 'b', 'c']) t.true(take(id))
  for (const id of ['d', 'd', 'a', 'e', 'a']) t.false(take(id))
  for (const id of ['a', 'b', 'c']) searches.release(id)
  await Promise.resolve()
  t.deepEqual(admitted.toSorted(), ['a', 'd', 'e'])
  for (const id of ['a', 'd']) searches.release(id)
  await Promise.resolve()
  t.deepEqual(admitted.slice(3).toSorted(), ['a', 'd'])
  t.is(searches.waiting, 0)
  searches.close()
})

test('search limiter: the next search of a workspace takes the connection of the one before, another one does not', async (t) => {
  const searches = new SearchLimiter<string>({ perWorkspace: 1, inAll: 2, othersUseFor: () => 0 })
  const take = (id: string, needsConnection: boolean) => searches.acquire(id, needsConnection)
  t.deepEqual([take('a', true), take('b', true)], [undefined, undefined])
  const inTransaction = take('a', false)
  const outside = take('a', true)
  const ofOther = take('c', true)
  t.false(searches.release('a', 'first'), 'one in a transaction has its own')
  t.is(await inTransaction, undefined)
  t.false(searches.release('b', 'second'), 'the next one is of another workspace')
  t.is(await ofOther, undefined)
  t.true(searches.release('a', 'first'))
  t.is(await outside, 'first')
  t.false(searches.release('a', 'first'), 'nobody waits')
  t.is(searches.waiting, 0)
  searches.close()
})

test('search limiter: a wait above 100 ms is noted, a shorter one is not', (t) => {
  const waits = new LongWaits()
  const began = performance.now()
  waits.note(99)
  waits.note(101)
  t.true(waits.hadSince(began))
  waits.close()
})

test('search limiter: a thread that was late is noted', (t) => {
  const waits = new LongWaits()
  const began = performance.now()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  t.true(waits.hadSince(began))
  waits.close()
})
