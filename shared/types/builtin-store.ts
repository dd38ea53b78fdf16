import type { Tx } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { BuiltinField, BuiltinType } from '#shared/types/builtin.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { addColumns, codeColumnOf, columnOf, countColumns, createTable, schemaOf } from '#shared/types/tables.ts'

const insertType = sql(
  'insert_builtin_type',
  `insert into record_types (workspace_id, id, key, label, icon, system, column_count) values ($1, $2, $3, $4, $5, true, $6)`,
)

const insertField = sql(
  'insert_builtin_field',
  `insert into fields (workspace_id, id, type_id, key, label, type, required, is_unique, autogen, rules, system, column_name)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, true, $11)`,
)

const adopt = sql(
  'adopt_field',
  `update fields set system = true, required = $3, is_unique = $4, autogen = $5, rules = $6 where workspace_id = $1 and id = $2`,
)

/** Makes a built-in type with its table and fields. The columns of fields that come with their type count from 1. */
export async function makeBuiltinType(tx: Tx, workspaceId: string, { key, label, icon, fields }: BuiltinType): Promise<void> {
  const typeId = newId()
  await tx.query(insertType(workspaceId, typeId, key, label, icon, countColumns(fields.map(({ type }) => type))))
  await createTable(tx, schemaOf(workspaceId), key, typeId)
  for (const [index, field] of fields.entries()) await makeBuiltinField(tx, { workspaceId, typeId, typeKey: key, number: index + 1 }, field)
}

/** Where a built-in field is made, and the number that its columns carry. */
export interface FieldPlace {
  readonly workspaceId: string
  readonly typeId: string
  readonly typeKey: string
  readonly number: number
}

/** Makes a built-in field with its columns and indexes. */
export async function makeBuiltinField(tx: Tx, place: FieldPlace, field: BuiltinField): Promise<void> {
  const { workspaceId, typeId, typeKey, number } = place
  const id = newId()
  const column = columnOf(field.key, number)
  const { key, label, type, required = false, unique = false, autogen = '', rules = {} } = field
  await tx.query(insertField(workspaceId, id, typeId, key, label, type, required, unique, autogen, JSON.stringify(rules), column))
  await addColumns(tx, schemaOf(workspaceId), typeKey, { id, type, column, codeColumn: codeColumnOf(type, column), unique })
}

/** Makes a custom field a built-in one with this definition. */
export async function makeSystem(tx: Tx, workspaceId: string, field: Field): Promise<void> {
  const { id, required, unique, autogen, rules } = field
  await tx.query(adopt(workspaceId, id, required, unique, autogen, JSON.stringify(rules)))
}
