import test from 'ava'
import { freeSlots, type SlotHolder } from '#workers/platform/jobs/free-slots.ts'

/** Running attempts, by `share/workspace` or by a workspace that is its own share. */
const of = (counts: Readonly<Record<string, number>>): SlotHolder[] =>
  Object.entries(counts).flatMap(([name, count]) => {
    const [shareId = null, workspaceId = shareId] = name.split('/')
    return Array<SlotHolder>(count).fill({ workspaceId, shareId })
  })

const none = { free: 0, full: [] }

test('slots: every slot is free to all workspaces when they have no limit', (t) => {
  t.deepEqual(freeSlots({ concurrency: 10 }, of({ a: 9 })), { within: { free: 1, full: [] }, beyond: none })
})

for (const [name, running, free, full] of [
  ['nothing runs: one workspace may take its share', {}, 4, []],
  ['what one has leaves it the rest of its share', { a: 3, b: 1 }, 1, []],
  ['one that has its share gets no more, and another gets its own', { a: 4 }, 4, ['a']],
  ['others get what is left of theirs', { a: 4, b: 1 }, 3, ['a']],
  ['no more than there are', { a: 4, b: 4 }, 2, ['a', 'b']],
  ['none', { a: 4, b: 4, c: 2 }, 0, ['a', 'b']],
] as const)
  test(`slots: ten slots, four for each workspace; ${name}`, (t) => {
    const slots = { free, full: [...full] }
    t.deepEqual(freeSlots({ concurrency: 10, slotsPerWorkspace: 4 }, of(running)), { within: slots, beyond: slots })
  })

for (const [name, running, within, beyond] of [
  ['together they have one share, and beyond it each its own', { 'o/a': 2, 'o/b': 1 }, [1, []], [2, []]],
  ['a share that is full gets no more while others wait', { 'o/a': 3, 'o/b': 1 }, [4, ['o']], [1, []]],
  ['what a share has beyond takes no slot from others', { 'o/a': 4, 'o/b': 4, 'o/c': 2 }, [4, ['o']], [0, ['a', 'b']]],
  ['others get no more than without it', { 'o/a': 4, 'o/b': 4, 'o/c': 2, x: 3, y: 2 }, [1, ['o']], [-5, ['a', 'b']]],
  ['nor when all is taken', { 'o/a': 4, 'o/b': 4, x: 4, y: 2 }, [0, ['o', 'x']], [-4, ['a', 'b', 'x']]],
] as const)
  test(`slots: ten slots, four for each share; ${name}`, (t) => {
    const slots = ([free, full]: readonly [number, readonly string[]]) => ({ free, full: [...full] })
    t.deepEqual(freeSlots({ concurrency: 10, slotsPerWorkspace: 4 }, of(running)), { within: slots(within), beyond: slots(beyond) })
  })

test('slots: jobs of one gate share its slots', (t) => {
  const gate = { name: 'gate', perWorkspace: 4, priority: 0 }
  const [own, other] = [of({ 'o/a': 1 }), of({ 'o/b': 3 })]
  t.deepEqual(freeSlots({ concurrency: 10, gate }, own, [...own, ...other]), {
    within: { free: 4, full: ['o'] },
    beyond: { free: 1, full: [] },
  })
})

test('slots: jobs of the platform belong to no workspace', (t) => {
  const platform = Array<SlotHolder>(5).fill({ workspaceId: null, shareId: null })
  const slots = { free: 4, full: [] }
  t.deepEqual(freeSlots({ concurrency: 10, slotsPerWorkspace: 4 }, platform), { within: slots, beyond: slots })
})
