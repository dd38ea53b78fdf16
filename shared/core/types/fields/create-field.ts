import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { FieldRules } from '#shared/core/types/fields/field.ts'
import { refuseLargePatterns } from '#shared/core/types/fields/pattern-limit.ts'
import { parseRules, requireUniqueable } from '#shared/core/types/fields/rules.ts'
import { type FieldInput, type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { allocateField, type FieldAllocation, insertField } from '#shared/core/types/fields/store.ts'
import { reservedFieldKeys } from '#shared/core/types/keys.ts'
import {
  type FieldRow,
  findRecordType,
  type RecordType,
  readRecordType,
  toField,
  unknownTypeProblem,
} from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { addColumns } from '#shared/core/types/tables/store.ts'
import { columnOf, maxColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/**
 * Fields that a record type may have. A row of PostgreSQL ends at 8 kB, and a value takes up to 24 bytes of it before it is moved out:
 * measured, 329 fields fit whatever they hold, beside 1,100 dropped columns.
 */
export const maxFields = 300

/**
 * Adds a field to a record type: existing records have no value of it, also of a required one, until they are written next. Throws
 * VALIDATION_ERROR that names what is wrong, an unknown `entity_type` too, and KEY_TAKEN.
 */
export async function createField(scope: Scope, input: FieldInput): Promise<FieldView> {
  const { key, type, unique } = input
  if (reservedFieldKeys.has(key)) throw problem('VALIDATION_ERROR', `key must not be ${key}, which every record has`)
  if (unique) requireUniqueable(type)
  const rules = parseRules(input.rules, type)
  refuseBlankDefault(input.required ?? false, rules)
  await requireRefType(scope, input.entity_type, 'entity_type')
  await requireRefType(scope, rules.ref_type, 'rules.ref_type')
  return changeTable(scope, (tx) => addField(tx, scope.workspace.id, input, rules))
}

/** Throws VALIDATION_ERROR naming `path` unless such a type exists. It may go later: references keep its ids. */
export async function requireRefType(scope: Scope, key: string | undefined, path: string): Promise<void> {
  if (key !== undefined && !(await findRecordType(scope, key))) throw await unknownTypeProblem(scope, path, key)
}

/** A required field whose default is blank could never take it: every record without a value would be refused. */
export function refuseBlankDefault(required: boolean, { default: initial = null }: FieldRules): void {
  if (required && initial !== null && isBlank(initial))
    throw problem('VALIDATION_ERROR', 'rules.default must not be empty on a required field')
}

async function addField(tx: Tx, workspaceId: string, input: FieldInput, rules: FieldRules): Promise<FieldView> {
  const { entity_type: entityType, key, label, type } = input
  const { required, unique, immutable, description } = input
  const id = newId()
  const [place] = await tx.query<FieldAllocation>(allocateField(workspaceId, entityType, fieldKinds[type].columns.length))
  if (!place) throw noType('entity_type', entityType)
  refuseBesideOthers(await readRecordType(tx, workspaceId, entityType), key, rules)
  const definition = [key, label, type, required ?? false, unique ?? false, immutable ?? false, description ?? '', JSON.stringify(rules)]
  const column = columnOf(key, place.number)
  const [row] = await tx.query<FieldRow>(insertField(workspaceId, id, place.type_id, ...definition, column, maxFields))
  if (!row) throw problem('VALIDATION_ERROR', `a record type has at most ${maxFields} fields`)
  if (place.column_count > maxColumns)
    throw problem('VALIDATION_ERROR', `${entityType} has had ${maxColumns} columns, deleted fields included; make a new record type`)
  const field = toField(entityType, row)
  await addColumns(tx, schemaOf(workspaceId), entityType, field)
  return toFieldView(field)
}

/**
 * Throws VALIDATION_ERROR for what a new field would do to those that are there: when a formula holds its key as a bare word, which from now
 * on would mean the field, and when their patterns would be too large together.
 */
function refuseBesideOthers(type: RecordType | undefined, key: string, rules: FieldRules): void {
  const reader = type?.computations.find(({ words }) => words.has(key))?.field.key
  if (reader !== undefined)
    throw problem('VALIDATION_ERROR', `key must not be ${key}, which the formula of ${reader} takes for text; put it in quotes there first`)
  if (rules.pattern !== undefined) refuseLargePatterns([...(type?.fields ?? []), { rules }])
}

const noType = (path: string, key: string) =>
  problem('VALIDATION_ERROR', `${path} must be the key of a record type, got ${JSON.stringify(key)}`)
