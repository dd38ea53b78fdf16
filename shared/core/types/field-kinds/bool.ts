import { type FieldKind, plainKind, readFirstCell, valueOperators } from '#shared/core/types/field-kinds/field-kind.ts'
import { createComparison } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { boolean } from '#shared/platform/db/statements/sql-types.ts'

const booleans = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
])

function parseBoolean(input: unknown, path: string): boolean {
  const value = booleans.get(input)
  if (value === undefined) throw invalidValueProblem(path, 'true or false', input)
  return value
}

/** Yes and no in cells, in English, German, French and Spanish. `sí` is often written without its accent. */
const words: ReadonlyMap<string, string> = new Map([
  ...['yes', 'ja', 'oui', 'sí', 'si'].map((word) => [word, 'true'] as const),
  ...['no', 'nein', 'non'].map((word) => [word, 'false'] as const),
])

/** True or false. */
export const boolKind: FieldKind<boolean> = {
  ...plainKind,
  type: 'bool',
  columns: ['boolean'],
  filter: {
    operators: ['eq', ...valueOperators],
    defaultOperator: 'eq',
    read(operator, value, path) {
      const operand = parseBoolean(value, path)
      return createComparison(operator, operand, { type: boolean }, (stored: boolean) => (stored === operand ? 0 : 1))
    },
  },
  parse: (input, _field, { path }) => parseBoolean(input, path),
  fromColumns: readFirstCell,
  fromCell(text) {
    // Spreadsheets write TRUE and FALSE.
    const word = text.trim().toLowerCase().normalize('NFC')
    return words.get(word) ?? (word || null)
  },
  toCell: String,
}
