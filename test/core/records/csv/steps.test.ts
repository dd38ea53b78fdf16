import test from 'ava'
import type { CsvRow } from '#shared/core/records/csv/read.ts'
import { groupRows } from '#shared/core/records/csv/row-groups.ts'
import type { GroupLimits } from '#shared/platform/kernel/values/group-by-size.ts'

async function* rowsOf(lengths: readonly number[]): AsyncGenerator<CsvRow> {
  for (const [index, length] of lengths.entries()) {
    yield length < 0 ? { row: index + 1, error: 'is bad' } : { row: index + 1, cells: ['x', 'y'.repeat(length - 1)] }
  }
}

const cases: readonly (readonly [
  name: string,
  lengths: readonly number[],
  skipped: number,
  size: GroupLimits,
  steps: readonly number[][],
])[] = [
  ['none', [], 0, { items: 2, size: 9 }, []],
  ['by their number', [1, 1, 1, 1, 1], 0, { items: 2, size: 9 }, [[1, 2], [3, 4], [5]]],
  ['by their length', [4, 5, 1, 9, 1], 0, { items: 9, size: 9 }, [[1, 2], [3], [4], [5]]],
  ['a row that is too long by itself', [1, 99, 1], 0, { items: 9, size: 9 }, [[1], [2], [3]]],
  ['rows with an error have no length', [-1, 9, -1, -1], 0, { items: 9, size: 9 }, [[1, 2, 3, 4]]],
  ['behind those that are done', [99, 1, 1, 1], 2, { items: 9, size: 9 }, [[3, 4]]],
  ['all done', [1, 1], 2, { items: 9, size: 9 }, []],
]

for (const [name, lengths, skipped, size, expected] of cases) {
  test(`steps: steps: ${name}`, async (t) => {
    const steps = await Array.fromAsync(groupRows(rowsOf(lengths), skipped, size))
    t.deepEqual(
      steps.map((step) => step.map(({ row }) => row)),
      expected as number[][],
    )
  })
}
