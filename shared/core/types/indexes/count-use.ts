import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Comparison, FilterOperator } from '#shared/core/types/field-kinds/field-kind.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { canPair, type FieldUse } from '#shared/core/types/indexes/index-kinds.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import { addUses } from '#shared/core/types/indexes/use-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { hasTrigram } from '#shared/platform/db/statements/letter-pairs.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { BufferedCounter } from '#shared/platform/kernel/process/buffered-counter.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

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
type Paired = Pick<Field, 'id' | 'type' | 'unique'>

/** A use of a field by a part of a search. */
export interface SearchUse {
  readonly field: Paired
  readonly use: FieldUse
  /** Whether it limits or orders all matches, as no branch of `any` does. */
  readonly isOfAll: boolean
}

/** The use of a field by a condition, if an index could serve it. `value` is the condition's. */
export function usesOfCondition(
  field: Paired,
  { operator, values }: Pick<Comparison, 'values'> & { readonly operator: FilterOperator },
  value: unknown,
): readonly SearchUse[] {
  const use = operator === 'eq' && values.length > 1 ? 'range' : useOfOperator[operator]
  // No index serves days among instants, whose condition has more than one value.
  const isServed = use && (use !== 'contains' || hasTrigram(String(value))) && (operator !== 'in' || values.length === 1)
  return isServed ? [{ field, use, isOfAll: true }] : []
}

/**
 * Counts the uses of a search, and its pairs: a field by which all matches are equal, with another one that bounds or orders them. Call it
 * only for fields that the caller may name: hidden fields must not be counted.
 */
export function countSearchUses(scope: CountingScope, uses: readonly SearchUse[]): void {
  for (const { field, use } of uses) countFieldUse(scope, field, use)
  const ofAll = uses.filter(({ isOfAll }) => isOfAll)
  const leads = new Map(ofAll.filter(({ use }) => use === 'equality').map(({ field }) => [field.id, field]))
  if (leads.size === 0) return
  // An index in the order of a field also finds its ranges.
  const ordered = new Map(ofAll.filter(({ use }) => isOrdered(use)).map((one) => [one.field.id, one]))
  for (const lead of [...leads.values()].slice(0, thresholds.pairs.perSearch)) {
    for (const { field, use } of [...ordered.values()].slice(0, thresholds.pairs.perSearch)) {
      if (field.id !== lead.id && canPair(lead, field)) countFieldUse(scope, field, storedPairName(use, lead.id))
    }
  }
}

const isOrdered = (use: FieldUse): boolean => use === 'range' || use === 'ascending' || use === 'descending'

/** The stored form of a field's use or index kind: with the id of the field that leads a pair. */
export const storedPairName = (name: string, leadId: string | undefined): string => (leadId === undefined ? name : `${name}:${leadId}`)

/** Counts a search of a field by `q`. */
export function countSearchUse(scope: CountingScope, field: Searched, q: string): void {
  if (hasTrigram(q)) countFieldUse(scope, field, 'search')
}

/** Counts the fields by which the caller's access rules select records. */
export function countRuleUses(scope: CountingScope, fields: readonly Field[], { searchColumns }: RecordAccess): void {
  if (searchColumns.size === 0) return
  for (const field of fields) if (searchColumns.has(field.column)) countFieldUse(scope, field, 'equality')
}

/** Counts one use of a field; `use` is a `FieldUse`, of a pair as `storedPairName` gives it. */
export function countFieldUse({ fieldUses, workspace }: CountingScope, { id }: Searched, use: string): void {
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
