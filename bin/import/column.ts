import { type CellFormat, toExportedCell } from '#shared/core/records/csv/cell-format.ts'
import { maxOptionLength } from '#shared/core/types/field-kinds/choice.ts'
import { countCharacters, maxStringLength } from '#shared/core/types/field-kinds/text.ts'
import { parseCell } from '#shared/core/types/field-kinds/value.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** Inferred type and content of a column. */
export interface Column {
  readonly header: string
  /** The narrowest field type that accepts every cell. */
  readonly type: FieldType
  /** The options of a select; empty for any other type. */
  readonly options: readonly string[]
  /** Number of cells that are not empty. */
  readonly filled: number
  /** The first cell that is not empty. */
  readonly example: string
}

/** Collects the cells of a column. */
interface WatchedColumn {
  readonly addCell: (cell: string) => void
  readonly result: () => Column
}

/**
 * Narrow types in order of preference. A code such as 007, a phone number and 1e5 are not plain numbers and stay text, as yes and no do: `NO` is
 * the code of a country too.
 */
const narrow = ['bool', 'number', 'date', 'datetime', 'email', 'url'] as const satisfies readonly FieldType[]
const plainBoolean = /^\s*(?:true|false)\s*$/i
const plainNumber = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?\s*$/

/**
 * A column becomes a select with at most `options` different values, at least `rows` cells that are not empty, and at most `share` times as
 * many values as such cells.
 */
const select = { options: 20, rows: 50, share: 0.05 }

/** Collects the cells of a column of a file with this format, in constant memory. */
export function watchColumn(header: string, format: CellFormat): WatchedColumn {
  let [filled, longest, example] = [0, 0, '']
  let types: readonly FieldType[] = narrow
  const distinct = new Set<string>()
  return {
    addCell(cell) {
      if (cell === '') return
      if (cell.trim() !== '') types = types.filter((type) => accepts(type, cell, format))
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
  distinct.size <= filled * select.share &&
  longest <= maxOptionLength

/** Whether a field of the type accepts the cell, by the rules of the import itself. */
function accepts(type: FieldType, cell: string, format: CellFormat): boolean {
  if (type === 'bool' && !plainBoolean.test(cell)) return false
  try {
    const exported = toExportedCell(cell, type, format, '')
    if (type === 'number' && !plainNumber.test(exported)) return false
    return parseCell(exported, { type, rules: {} }, { path: '', defaultCurrency: '' }) !== null
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
