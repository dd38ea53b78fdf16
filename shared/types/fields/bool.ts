import { compared } from '#shared/types/fields/filter.ts'
import { type FieldKind, ownForm, plainKind } from '#shared/types/fields/kind.ts'
import { refusal } from '#shared/types/fields/refuse.ts'

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
