import { recordAccessFor } from '#shared/core/records/access.ts'
import { applyChanges, findWrittenFields } from '#shared/core/records/change/update-record.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { uniqueTextOf } from '#shared/core/records/csv/import-plan.ts'
import { recordIdsByUniqueValues } from '#shared/core/records/query/read-store.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { emptyValues, type StoredRecord, toColumnValues, type Values } from '#shared/core/records/record.ts'
import { lockRecordsByIds } from '#shared/core/records/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

interface Row {
  readonly sent: Values
}

/**
 * Locks the records that hold the rows' values of a unique field until the transaction ends. Locks in the order of the ids, so that two imports
 * cannot deadlock here. Returns the ids.
 */
export async function lockMatches(scope: Scope, type: RecordType, field: Field, rows: readonly Row[]): Promise<readonly string[]> {
  const keyed = rows.filter((row) => keyOf(field, row) !== undefined)
  if (keyed.length === 0) return []
  const found = await scope.db.query(recordIdsByUniqueValues(type, field)(columnLists(field, keyed)))
  const ids = found.map(({ id }) => id).sort()
  if (ids.length > 0) await scope.db.query(lockRecordsByIds(type)({ ids }))
  return ids
}

/**
 * The readable records that hold the rows' values of a unique field, locked until the transaction ends. A row whose record the caller may not
 * read has none, like a row whose value no record holds.
 */
export async function findMatches<R extends Row>(
  scope: Scope,
  type: RecordType,
  field: Field,
  rows: readonly R[],
): Promise<ReadonlyMap<R, StoredRecord>> {
  const access = recordAccessFor(scope, type, 'records:read')
  const records = await findRecordsByIds(scope, type, await lockMatches(scope, type, field, rows))
  // A record may have got another value before it was locked, so the stored values decide.
  const byKey = new Map(records.map((record) => [uniqueTextOf(field, record.values[field.key] ?? null), record]))
  return new Map(
    rows.flatMap((row): [R, StoredRecord][] => {
      const key = keyOf(field, row)
      const record = key === undefined ? undefined : byKey.get(key)
      return record && access.test(record) ? [[row, record]] : []
    }),
  )
}

const keyOf = (field: Field, { sent }: Row): string | undefined => uniqueTextOf(field, sent[field.key] ?? null)

/** The rows' values of a field, as one list per column of the field. */
function columnLists(field: Field, rows: readonly Row[]): Record<string, unknown[]> {
  const cells = rows.map(({ sent }) => toColumnValues([field], sent))
  return Object.fromEntries(valueColumnsOf(field).map((column) => [column, cells.map((row) => row[column])]))
}

/**
 * Changes a locked record to the values of a row; writes nothing when it has them already. An empty list clears nothing. Throws FORBIDDEN
 * unless the caller's rules for records:update allow the record as stored, and those for records:import allow it as it becomes, computed
 * fields included; and the problems of a change (`applyChanges`).
 */
export async function updateMatch(scope: Scope, type: RecordType, stored: StoredRecord, row: Values): Promise<'updated' | 'unchanged'> {
  const sent = filledValues(row)
  if (findWrittenFields(scope, type, stored, sent).length === 0) return 'unchanged'
  if (!recordAccessFor(scope, type, 'records:update').test(stored)) throw problem('FORBIDDEN', 'Needs records:update on this record')
  const values = Object.assign(emptyValues(), stored.values, sent)
  await computeValues(scope, type, values)
  if (!recordAccessFor(scope, type, 'records:import').test({ ...stored, values })) {
    throw problem('FORBIDDEN', `Needs records:import on ${type.key} with these values`)
  }
  await withSavepoint(scope.db, () => applyChanges(scope, type, stored, sent, values))
  return 'updated'
}

function filledValues(row: Values): Values {
  const filled = emptyValues()
  for (const [key, value] of Object.entries(row)) if (!isBlank(value)) filled[key] = value
  return filled
}
