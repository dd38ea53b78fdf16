import { type FieldKind, ownForm, plainKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { compared } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { refusal } from '#shared/core/types/field-kinds/value-problem.ts'

const booleans = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
])

function parseBoolean(input: unknown, path: string): boolean {
  const value = booleans.get(input)
  if (value === undefined) throw refusal(path, 'true or false', input)
  return value
}

/** True or false. */
export const boolKind: FieldKind<boolean> = {
  ...plainKind,
  type: 'bool',
  columns: ['boolean'],
  filter: {
    operators: ['eq'],
    byDefault: 'eq',
    read(operator, value, path) {
      const wanted = parseBoolean(value, path)
      return compared(operator, wanted, '', (held: boolean) => (held === wanted ? 0 : 1))
    },
  },
  parse: (input, _field, { path }) => parseBoolean(input, path),
  fromColumns: ownForm,
  // Spreadsheets write TRUE and FALSE.
  fromCell: (text) => text.trim().toLowerCase(),
  toCell: String,
}
