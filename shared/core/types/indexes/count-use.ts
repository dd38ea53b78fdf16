import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { FieldFilter } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import type { Field } from '#shared/core/types/fields/field.ts'

/** What an index on a field can be of use for. `search` is `q`, `reference` a listing by `ref_field`. */
export type FieldUse = 'equality' | 'range' | 'ascending' | 'descending' | 'contains' | 'search' | 'reference'

const useOf: Readonly<Record<string, FieldUse | null>> = {
  eq: 'equality',
  // Nearly all records differ from a value: reading them all is the quickest.
  ne: null,
  gt: 'range',
  gte: 'range',
  lt: 'range',
  lte: 'range',
  contains: 'contains',
}

type Counting = Pick<Scope, 'fieldUses' | 'workspace'>
type Searched = Pick<Field, 'id'>

/** Counts that a field was filtered by. Call it for what the caller may name alone: hidden fields leave no trace. */
export function countFilterUse(scope: Counting, field: Pick<Field, 'id' | 'type'>, { op, value }: FieldFilter): void {
  const use = useOf[op ?? fieldKinds[field.type].filter?.defaultOperator ?? 'ne']
  if (use && (use !== 'contains' || hasTrigram(value))) countFieldUse(scope, field, use)
}

/** Counts that `q` looked into a field. */
export function countSearchUse(scope: Counting, field: Searched, q: string): void {
  if (hasTrigram(q)) countFieldUse(scope, field, 'search')
}

/** Counts that the caller's rules found the records by the values of fields. */
export function countRuleUses(scope: Counting, fields: readonly Field[], { searchColumns }: RecordAccess): void {
  if (searchColumns.size === 0) return
  for (const field of fields) if (searchColumns.has(field.column)) countFieldUse(scope, field, 'equality')
}

/** Counts one use of a field. */
export function countFieldUse({ fieldUses, workspace }: Counting, { id }: Searched, use: FieldUse): void {
  fieldUses.count(`${workspace.id} ${id} ${use}`)
}

/** Whether a trigram index narrows the search for this text: it knows nothing of shorter runs of letters and digits. */
const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text)
