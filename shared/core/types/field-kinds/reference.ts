import { type FieldKind, type KindFilter, plainKind, readFirstCell, valueOperators } from '#shared/core/types/field-kinds/field-kind.ts'
import { createComparison } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { listFilter, listKind, maxEntries, parseList } from '#shared/core/types/field-kinds/list.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/** Reads a record's id in any letter case. Checks the format only, not that the record exists (docs/contract/records.md#references). */
function parseId(input: unknown, path: string): string {
  if (typeof input !== 'string' || !isUuid(input)) throw invalidValueProblem(path, 'the UUID of a record', input)
  return input.toLowerCase()
}

/** Filter of an id. */
const idFilter: KindFilter = {
  operators: ['eq', ...valueOperators],
  defaultOperator: 'eq',
  read(operator, value, path) {
    const id = parseId(value, path)
    return createComparison(operator, id, { type: uuid }, (stored: string) => compareText(stored, id))
  },
}

/** Filter of the ids that every record has: its own, and that of its creator. */
export const ownIdFilter: KindFilter = { ...idFilter, operators: ['eq', 'ne', 'in', 'not_in'] }

/** The id of another record. */
export const refKind: FieldKind<string> = {
  ...plainKind,
  type: 'ref',
  columns: ['uuid'],
  ruleKeys: ['ref_type'],
  filter: idFilter,
  parse: (input, _field, { path }) => parseId(input, path),
  fromColumns: readFirstCell,
  toCell: (value) => value,
}

/** Ids of other records, in the order sent; duplicates are allowed. */
export const refsKind: FieldKind<readonly string[]> = {
  ...listKind,
  type: 'refs',
  columns: ['uuid[]'],
  ruleKeys: ['ref_type'],
  filter: listFilter(uuids, parseId),
  parse: (input, _field, { path }) => parseList(input, path, { max: maxEntries, distinct: false, parseEntry: parseId }),
  fromColumns: readFirstCell,
}
