import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceTypeChange } from '#shared/core/types/events.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { Field, FieldRules } from '#shared/core/types/fields/field.ts'
import { parseRules, refuseLargePatterns, requireUniqueable } from '#shared/core/types/fields/rules.ts'
import { type FieldInput, type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { allocateField, insertField, moveField } from '#shared/core/types/fields/store.ts'
import { reservedFieldKeys } from '#shared/core/types/keys.ts'
import { findRecordType, type RecordType, readRecordType, toField, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { addColumns, dropColumns } from '#shared/core/types/tables/store.ts'
import { codeColumnOf, columnOf, maxColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/**
 * Maximum fields of a record type. A PostgreSQL row is limited to 8 kB, and a value takes up to 24 bytes of it before it is stored out of
 * line: 329 fields were measured to fit always, even with 1,100 dropped columns.
 */
export const maxFields = 300

/**
 * Adds a field to a record type. Existing records have no value for it until their next write, even when it is required. Throws
 * VALIDATION_ERROR that names the invalid input, also for an unknown `entity_type`, and KEY_TAKEN.
 */
export async function createField(scope: Scope, input: FieldInput): Promise<FieldView> {
  const { key, type, unique } = input
  if (reservedFieldKeys.has(key)) throw problem('VALIDATION_ERROR', `key must not be ${key}, which every record has`)
  if (unique) requireUniqueable(type)
  const rules = parseRules(input.rules, type)
  refuseBlankDefault(input.required ?? false, rules)
  await requireRefType(scope, input.entity_type, 'entity_type')
  await requireRefType(scope, rules.ref_type, 'rules.ref_type')
  return changeTable(scope, (tx) => addField(within(scope, tx), tx, input, rules))
}

/** Throws VALIDATION_ERROR naming `path` unless the type exists. The type may be deleted later: references keep its ids. */
export async function requireRefType(scope: Scope, key: string | undefined, path: string): Promise<void> {
  if (key !== undefined && !(await findRecordType(scope, key))) throw await unknownTypeProblem(scope, path, key)
}

/** Throws VALIDATION_ERROR for a blank default on a required field: it would never be accepted as a value. */
export function refuseBlankDefault(required: boolean, { default: initial = null }: FieldRules): void {
  if (required && initial !== null && isBlank(initial))
    throw problem('VALIDATION_ERROR', 'rules.default must not be empty on a required field')
}

async function addField(scope: Scope, tx: Tx, input: FieldInput, rules: FieldRules): Promise<FieldView> {
  const workspaceId = scope.workspace.id
  const { entity_type: entityType, key, label, type } = input
  const { required, unique, immutable, description } = input
  const id = newId()
  const allocating = allocateField({ workspaceId, typeKey: entityType, columns: fieldKinds[type].columns.length })
  const [allocation] = await tx.query(allocating)
  if (!allocation) throw unknownType('entity_type', entityType)
  refuseConflicts(await readRecordType(tx, workspaceId, entityType), key, rules)
  const [row] = await tx.query(
    insertField({
      workspaceId,
      id,
      typeId: allocation.type_id,
      key,
      label,
      type,
      required: required ?? false,
      unique: unique ?? false,
      immutable: immutable ?? false,
      description: description ?? '',
      rules: JSON.stringify(rules),
      column: columnOf(key, allocation.number),
      maxFields,
    }),
  )
  if (!row) throw problem('VALIDATION_ERROR', `a record type has at most ${maxFields} fields`)
  requireColumns(entityType, allocation.column_count)
  const field = toField(entityType, row)
  await addColumns(tx, schemaOf(workspaceId), entityType, field)
  await announceTypeChange(scope, { id: allocation.type_id, key: entityType, change: 'updated', fields: [key] })
  return toFieldView(field)
}

/** Throws VALIDATION_ERROR when a type's table has had more than `maxColumns`. */
function requireColumns(typeKey: string, count: number): void {
  if (count > maxColumns)
    throw problem('VALIDATION_ERROR', `${typeKey} has had ${maxColumns} columns, deleted fields included; make a new record type`)
}

/**
 * Discards a field's values in every record by giving the field new columns, in the caller's transaction. Changes only the catalogue. The
 * caller has locked the type and started an edition. Throws VALIDATION_ERROR when the table has had `maxColumns`.
 */
export async function clearFieldValues(tx: Tx, workspaceId: string, field: Field): Promise<void> {
  const { id, entityType: typeKey, key, type } = field
  const [allocation] = await tx.query(allocateField({ workspaceId, typeKey, columns: fieldKinds[type].columns.length }))
  if (!allocation) throw problem('NOT_FOUND')
  requireColumns(typeKey, allocation.column_count)
  const column = columnOf(key, allocation.number)
  await dropColumns(tx, schemaOf(workspaceId), typeKey, field)
  await tx.query(moveField({ workspaceId, id, column }))
  await addColumns(tx, schemaOf(workspaceId), typeKey, { ...field, column, codeColumn: codeColumnOf(type, column) })
}

/**
 * Throws VALIDATION_ERROR when the new field conflicts with existing ones: a formula contains its key as a bare word, which would start to
 * mean the field, or the patterns of all fields together are too large.
 */
function refuseConflicts(type: RecordType | undefined, key: string, rules: FieldRules): void {
  const reader = type?.computations.find(({ words }) => words.has(key))?.field.key
  if (reader !== undefined)
    throw problem('VALIDATION_ERROR', `key must not be ${key}, which the formula of ${reader} takes for text; put it in quotes there first`)
  if (rules.pattern !== undefined) refuseLargePatterns([...(type?.fields ?? []), { rules }])
}

const unknownType = (path: string, key: string) =>
  problem('VALIDATION_ERROR', `${path} must be the key of a record type, got ${JSON.stringify(key)}`)
