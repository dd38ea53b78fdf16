import type { Scope } from '#shared/access/scope.ts'
import { problem } from '#shared/kernel/errors.ts'
import { withRoom } from '#shared/records/cap.ts'
import { insert } from '#shared/records/create.ts'
import { matchColumns } from '#shared/records/csv/header.ts'
import { completeValues, isComputed } from '#shared/records/input.ts'
import { requireAccess } from '#shared/records/picture.ts'
import { noValues, type StoredRecord, type Values } from '#shared/records/record.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { valueOfCell } from '#shared/types/fields/value.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** The field that each column of a header fills, null for one that is ignored. Throws VALIDATION_ERROR without any, or with one twice. */
export const requireColumns = (type: RecordType, header: readonly string[]): readonly (Field | null)[] => matchColumns(header, type.fields)

/**
 * Creates a record from a row of cells in the caller's transaction, which stays good when the row is refused. Blank cells are left unset,
 * so that defaults and numbering apply. Throws like `createRecord`; the conditions of `records:import` are tested on the row.
 */
export async function importRow(
  scope: Scope,
  type: RecordType,
  columns: readonly (Field | null)[],
  cells: readonly string[],
): Promise<StoredRecord> {
  const access = requireAccess(scope, type, 'records:import')
  const context = { defaultCurrency: scope.workspace.default_currency }
  const sent = valuesOf(columns, cells, context.defaultCurrency)
  const values = completeValues(type, sent, context)
  const draft = { id: null, object_type: type.key, created_by: scope.actor.id, created_at: scope.now().toISOString() }
  for (const candidate of [sent, values]) {
    if (!access.test({ ...draft, values: candidate })) throw problem('FORBIDDEN', `Needs records:import on ${type.key} with these values`)
  }
  return inSavepoint(scope, () => withRoom(scope, 1, (inside) => insert(inside, type, values)))
}

function valuesOf(columns: readonly (Field | null)[], cells: readonly string[], defaultCurrency: string): Values {
  const values = noValues()
  for (const [index, field] of columns.entries()) {
    const cell = cells[index] ?? ''
    if (field && !isComputed(field) && cell !== '') values[field.key] = valueOfCell(cell, field, { path: field.key, defaultCurrency })
  }
  return values
}

/** Lets a statement fail without ending the transaction around it. */
async function inSavepoint<T>({ db }: Scope, work: () => Promise<T>): Promise<T> {
  await db.query({ text: 'savepoint row' })
  try {
    const result = await work()
    await db.query({ text: 'release savepoint row' })
    return result
  } catch (error) {
    await db.query({ text: 'rollback to savepoint row' })
    throw error
  }
}
