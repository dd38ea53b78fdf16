import { maxOptionLength } from '#shared/core/types/field-kinds/choice.ts'
import { countCharacters, maxStringLength } from '#shared/core/types/field-kinds/text.ts'
import { parseCell } from '#shared/core/types/field-kinds/value.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** What a column of a file turned out to hold. */
export interface Column {
  readonly header: string
  /** The narrowest field type that takes every cell. */
  readonly type: FieldType
  /** The options of a select; empty for any other type. */
  readonly options: readonly string[]
  /** Cells that are not blank. */
  readonly filled: number
  /** The first of them. */
  readonly example: string
}

/** A column whose cells are still being read. */
export interface WatchedColumn {
  readonly addCell: (cell: string) => void
  readonly result: () => Column
}

/** Narrow types in the order of their preference. What is no plain number, a code such as 007, a phone number or 1e5, stays text. */
const narrow = ['bool', 'number', 'date', 'datetime', 'email', 'url'] as const satisfies readonly FieldType[]
const plainNumber = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?\s*$/

/** A select has a few options that come again and again: at most so many, in at least so many rows, of which they are at most this part. */
const select = { options: 20, rows: 50, part: 0.05 }

/** Watches the cells of a column. What it remembers of them does not grow with their number. */
export function watchColumn(header: string): WatchedColumn {
  let [filled, longest, example] = [0, 0, '']
  let types: readonly FieldType[] = narrow
  const distinct = new Set<string>()
  return {
    addCell(cell) {
      if (cell === '') return
      if (cell.trim() !== '') types = types.filter((type) => takes(type, cell))
      if (distinct.size <= select.options) distinct.add(cell)
      longest = Math.max(longest, countCharacters(cell))
      example ||= cell
      filled += 1
    },
    result() {
      const narrowest = example.trim() === '' ? undefined : types[0]
      const options = narrowest === undefined && areOptions(distinct, filled, longest) ? [...distinct].sort() : []
      const text = longest > maxStringLength ? 'text' : 'string'
      return { header, type: narrowest ?? (options.length > 0 ? 'select' : text), options, filled, example }
    },
  }
}

const areOptions = (distinct: ReadonlySet<string>, filled: number, longest: number): boolean =>
  distinct.size > 1 &&
  distinct.size <= select.options &&
  filled >= select.rows &&
  distinct.size <= filled * select.part &&
  longest <= maxOptionLength

/** Whether a field of the type takes the cell, by the rules that the import itself goes by. */
function takes(type: FieldType, cell: string): boolean {
  if (type === 'number' && !plainNumber.test(cell)) return false
  try {
    return parseCell(cell, { type, rules: {} }, { path: '', defaultCurrency: '' }) !== null
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
