import test from 'ava'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { eventually } from '#test/support/eventually.ts'
import { createGroupedWork } from '#workers/core/notifications/grouped-work.ts'

// Groups use only the job queue of a scope.
const scopeOf = (queue: object) => ({ jobQueue: queue }) as unknown as PlatformScope
/** All items are of one workspace. */
const toOne = () => 'a workspace'

test('grouped work: items that are added together are processed together, and later ones in the next group', async (t) => {
  const lots: number[][] = []
  const gate = Promise.withResolvers<void>()
  const add = createGroupedWork<number>(toOne, async (_scope, items) => {
    lots.push([...items])
    if (lots.length === 1) await gate.promise
  })
  const scope = scopeOf({})
  const first = [1, 2, 3].map((item) => add(scope, item))
  await eventually(() => lots.length > 0)
  const later = [4, 5].map((item) => add(scope, item))
  gate.resolve()
  await Promise.all([...first, ...later])
  await add(scope, 6)
  t.deepEqual(lots, [[1, 2, 3], [4, 5], [6]])
})

test('grouped work: a failed group is processed item by item, and only the faulty item fails', async (t) => {
  const lots: number[][] = []
  const add = createGroupedWork<number>(toOne, async (_scope, items) => {
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

test('grouped work: a process does not process items of another', async (t) => {
  const lots: number[][] = []
  const add = createGroupedWork<number>(toOne, async (_scope, items) => void lots.push([...items]))
  await Promise.all([add(scopeOf({}), 1), add(scopeOf({}), 2)])
  t.deepEqual(lots, [[1], [2]])
})

test('grouped work: no workspace waits for another workspace’s group', async (t) => {
  const gate = Promise.withResolvers<void>()
  const lots: [string, number[]][] = []
  const add = createGroupedWork<number>(
    (item) => (item < 10 ? 'slow' : 'quick'),
    async (_scope, items, workspaceId) => {
      lots.push([workspaceId, [...items]])
      if (workspaceId === 'slow') await gate.promise
    },
  )
  const scope = scopeOf({})
  const slow = [1, 2].map((item) => add(scope, item))
  await Promise.all([add(scope, 11), add(scope, 12)])
  await add(scope, 13)
  gate.resolve()
  await Promise.all(slow)
  t.deepEqual(lots, [
    ['slow', [1, 2]],
    ['quick', [11, 12]],
    ['quick', [13]],
  ])
})
