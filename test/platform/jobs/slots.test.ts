import test from 'ava'
import { freeSlots } from '#workers/platform/jobs/free-slots.ts'

const of = (counts: Readonly<Record<string, number>>) => Object.entries(counts).flatMap(([id, count]) => Array<string>(count).fill(id))

test('slots: every slot is free to all workspaces when they have no limit', (t) => {
  t.deepEqual(freeSlots({ concurrency: 10 }, of({ a: 9 })), { free: 1, full: [] })
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
    t.deepEqual(freeSlots({ concurrency: 10, slotsPerWorkspace: 4 }, of(running)), { free, full: [...full] })
  })

test('slots: jobs of the platform belong to no workspace', (t) => {
  t.deepEqual(freeSlots({ concurrency: 10, slotsPerWorkspace: 4 }, Array<null>(5).fill(null)), { free: 4, full: [] })
})
