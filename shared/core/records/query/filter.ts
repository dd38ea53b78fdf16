import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { type Condition, conditionTarget, type Filter, partsOf, stepOf } from '#shared/core/records/query/filter-tree.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { readFilter } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/**
 * Compiles a filter to a test of records in memory, such as the snapshot of an event. It accepts exactly the records that `findRecords`
 * would find for this access, the reader's rights included. Throws VALIDATION_ERROR as a query does.
 */
export function createRecordMatcher(
  type: RecordType,
  access: Pick<RecordAccess, 'hideable' | 'test'>,
  filter: Filter,
): (record: StoredRecord) => boolean {
  const matches = compileTest(type, access.hideable, filter, 'filter')
  return (record) => access.test(record) && matches(record)
}

/**
 * Compiles a stored filter to a test of records for every reader. The type may have changed since: if a field of the filter is gone or has
 * another type, no record passes.
 */
export const createStoredTest = (type: RecordType, filter: Filter): ((record: StoredRecord) => boolean) =>
  orNone(() => compileTest(type, new Set(), filter, 'filter'))

/** The test that `compile` returns; one that no record passes where it throws VALIDATION_ERROR. */
export function orNone(compile: () => (record: StoredRecord) => boolean): (record: StoredRecord) => boolean {
  try {
    return compile()
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return () => false
    throw error
  }
}

/** Throws VALIDATION_ERROR that names `path` where a filter does not fit the type, or names a field that a rule could hide. */
export function requireFilter(type: RecordType, hideable: ReadonlySet<string>, filter: Filter, path: string): void {
  compileTest(type, hideable, filter, path)
}

function compileTest(type: RecordType, hideable: ReadonlySet<string>, filter: Filter, path: string): (record: StoredRecord) => boolean {
  const parts = partsOf(filter, path)
  if (!parts) {
    const { target, comparison } = readCondition(type, hideable, filter as Condition, path)
    return (record) => comparison.matches(target.valueOf(record))
  }
  const tests = parts.filters.map((part) => compileTest(type, hideable, part.filter, part.path))
  if (parts.joinedBy === 'not') return (record) => tests.every((test) => !test(record))
  if (parts.joinedBy === 'or') return (record) => tests.some((test) => test(record))
  return (record) => tests.every((test) => test(record))
}

/**
 * What a condition tests, and how. Throws VALIDATION_ERROR where it names no field of the type that the caller may name, or its operator or
 * value does not suit the field.
 */
export function readCondition(type: RecordType, hideable: ReadonlySet<string>, condition: Condition, path: string) {
  if (stepOf(condition.field))
    throw problem('VALIDATION_ERROR', `${path}.field must be a field of ${type.key} itself here, got ${condition.field}`)
  const target = conditionTarget(type, hideable, condition.field, `${path}.field`)
  const known = target.field && type.knownTrigrams.get(target.field.id)
  return { target, comparison: readFilter(target, condition, path, known) }
}
