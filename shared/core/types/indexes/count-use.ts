import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { FilterOperator } from '#shared/core/types/field-kinds/field-kind.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { addUses } from '#shared/core/types/indexes/use-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { hasTrigram } from '#shared/platform/db/statements/letter-pairs.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { BufferedCounter } from '#shared/platform/kernel/process/buffered-counter.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** The query on a field that an index can serve. `search` is `q`, `reference` a listing by `ref_field`. */
export type FieldUse = 'equality' | 'range' | 'ascending' | 'descending' | 'contains' | 'search' | 'reference'

/** Null where nearly all records match, so that a full scan is fastest, and where no index serves. */
const useOfOperator: Readonly<Record<FilterOperator, FieldUse | null>> = {
  eq: 'equality',
  in: 'equality',
  ne: null,
  not_in: null,
  gt: 'range',
  gte: 'range',
  lt: 'range',
  lte: 'range',
  contains: 'contains',
  starts_with: 'contains',
  not_contains: null,
  has: 'reference',
  has_any: 'reference',
  empty: null,
  not_empty: null,
}

type CountingScope = Pick<Scope, 'fieldUses' | 'workspace'>
type Searched = Pick<Field, 'id'>

/** Counts a condition on a field. Call it only for fields that the caller may name: hidden fields must not be counted. */
export function countFilterUse(scope: CountingScope, field: Searched, operator: FilterOperator, value: unknown): void {
  const use = useOfOperator[operator]
  if (use && (use !== 'contains' || hasTrigram(String(value)))) countFieldUse(scope, field, use)
}

/** Counts a search of a field by `q`. */
export function countSearchUse(scope: CountingScope, field: Searched, q: string): void {
  if (hasTrigram(q)) countFieldUse(scope, field, 'search')
}

/** Counts the fields by which the caller's access rules select records. */
export function countRuleUses(scope: CountingScope, fields: readonly Field[], { searchColumns }: RecordAccess): void {
  if (searchColumns.size === 0) return
  for (const field of fields) if (searchColumns.has(field.column)) countFieldUse(scope, field, 'equality')
}

/** Counts one use of a field. */
export function countFieldUse({ fieldUses, workspace }: CountingScope, { id }: Searched, use: FieldUse): void {
  fieldUses.count(`${workspace.id} ${id} ${use}`)
}

/** Interval at which a process writes its counts. */
const flushIntervalMs = 5_000

/** Creates the process's counter of field uses, written by one statement per interval. Counts that cannot be written are lost. */
export const createUseCounter = (db: Executor, now: () => Date, log: Logger): BufferedCounter =>
  new BufferedCounter(flushIntervalMs, async (counts) => {
    try {
      await addUses(db, counts, now())
    } catch (error) {
      if (!countRefusal(error)) log.warn({ err: error }, 'could not note how often fields are used')
    }
  })
