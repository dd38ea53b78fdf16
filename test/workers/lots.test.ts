import test from 'ava'
import type { PlatformScope } from '#shared/access/scope.ts'
import { inLots } from '#workers/lots.ts'

// Of a scope, lots look at nothing but which process's queue it has.
const scopeOf = (queue: object) => ({ queue }) as unknown as PlatformScope

test('what is asked for together is done together, and what comes meanwhile makes the next lot', async (t) => {
  const lots: number[][] = []
  const gate = Promise.withResolvers<void>()
  const add = inLots<number>(async (_scope, items) => {
    lots.push([...items])
    if (lots.length === 1) await gate.promise
  })
  const scope = scopeOf({})
  const first = [1, 2, 3].map((item) => add(scope, item))
  while (lots.length === 0) await new Promise(setImmediate)
  const later = [4, 5].map((item) => add(scope, item))
  gate.resolve()
  await Promise.all([...first, ...later])
  await add(scope, 6)
  t.deepEqual(lots, [[1, 2, 3], [4, 5], [6]])
})

test('a lot that fails is done item by item, and only the faulty one fails', async (t) => {
  const lots: number[][] = []
  const add = inLots<number>(async (_scope, items) => {
    lots.push([...items])
    if (items.includes(2)) throw new Error('two')
  })
  const scope = scopeOf({})
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => add(scope, item)))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.deepEqual(lots, [[1, 2, 3], [1], [2], [3]])
})

test('processes do not do each other’s work', async (t) => {
  const lots: number[][] = []
  const add = inLots<number>(async (_scope, items) => void lots.push([...items]))
  await Promise.all([add(scopeOf({}), 1), add(scopeOf({}), 2)])
  t.deepEqual(lots, [[1], [2]])
})
