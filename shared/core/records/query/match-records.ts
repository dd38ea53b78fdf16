import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { type RecordFilter, readRecordFilter } from '#shared/core/records/query/filter.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * Compiles filters to a test of records in memory, such as the snapshot of an event. It accepts exactly the records that `findRecords`
 * would find for this access, the reader's rights included. Throws VALIDATION_ERROR as a query does.
 */
export function createRecordMatcher(
  type: RecordType,
  access: RecordAccess,
  filters: readonly RecordFilter[],
): (record: StoredRecord) => boolean {
  const comparisons = filters.map((filter, index) => readRecordFilter(type, access.hideable, filter, `filter[${index}]`))
  return (record) => access.test(record) && comparisons.every(({ field, matches }) => matches(record.values[field.key] ?? null))
}
