import { type ChangeRow, type ReadChange, see, startReading } from '#shared/core/records/events/show-changes.ts'
import { createRecordMatcher, orNone } from '#shared/core/records/query/filter.ts'
import { conditionsOf, type Filter } from '#shared/core/records/query/filter-tree.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * Prepares judging changes of records, in their order: whether the caller reads the record as the change left it, a deleted one as it was,
 * and the filter accepts it. No record passes where the filter does not fit its type, names a field that a rule could hide from the caller, or
 * one whose value the event did not keep.
 */
export async function prepareJudging(
  scope: Scope,
  filter: Filter,
  events: readonly ChangeRow[],
): Promise<(event: ChangeRow) => Promise<boolean>> {
  const read = await startReading(scope, events)
  const keys = new Set(conditionsOf(filter).map(({ field }) => field))
  const tests = new Map<RecordType, (record: StoredRecord) => boolean>()
  const testOf = ({ access: { type, hideable } }: ReadChange) => {
    const test = tests.get(type) ?? orNone(() => createRecordMatcher(type, { hideable, test: () => true }, filter))
    tests.set(type, test)
    return test
  }
  return async (event) => {
    const change = await read(event)
    const values = change && (change.after ?? change.before)
    if (!values) return false
    const isKept = [...keys].every((key) => !change.access.type.fieldByKey.has(key) || change.has(key))
    const { isSeen, record } = see(event, change, values)
    return isKept && isSeen && testOf(change)(record)
  }
}

/** Keys of the type's fields that a filter tests. */
export const filteredKeys = ({ fieldByKey }: RecordType, filter: Filter): string[] => [
  ...new Set(conditionsOf(filter).flatMap(({ field }) => (fieldByKey.has(field) ? [field] : []))),
]
