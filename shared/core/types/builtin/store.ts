import type { BuiltinField, BuiltinType } from '#shared/core/types/builtin/builtin-types.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { addColumns, createTable } from '#shared/core/types/tables/store.ts'
import { codeColumnOf, columnOf, countColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

const insertType = sql(
  'insert_builtin_type',
  `insert into record_types (workspace_id, id, key, label, icon, system, column_count) values ($1, $2, $3, $4, $5, true, $6)`,
)

/**
 * Creates fields in their order. Values: workspace, type id; then arrays with one element per field: ids, keys, labels, types, required,
 * unique, auto-numbering patterns, rules, columns.
 */
const insertFields = sql(
  'insert_builtin_fields',
  `insert into fields (workspace_id, id, type_id, key, label, type, required, is_unique, autogen, rules, system, column_name)
   select $1, id, $2, key, label, type, required, is_unique, autogen, rules, true, column_name
   from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::boolean[], $9::text[], $10::jsonb[], $11::text[])
     with ordinality as field (id, key, label, type, required, is_unique, autogen, rules, column_name, place)
   order by place`,
)

const adopt = sql(
  'adopt_field',
  `update fields set system = true, required = $3, is_unique = $4, autogen = $5, rules = $6 where workspace_id = $1 and id = $2`,
)

/** Creates a built-in type with its table and fields. The numbers in the names of the fields' columns count from 1. */
export async function createBuiltinType(tx: Tx, workspaceId: string, { key, label, icon, fields }: BuiltinType): Promise<void> {
  const typeId = newId()
  const made = fields.map((field, index) => newField(field, index + 1))
  await tx.query(insertType(workspaceId, typeId, key, label, icon, countColumns(fields.map(({ type }) => type))))
  await createTable(tx, schemaOf(workspaceId), key, typeId, made)
  await tx.query(insertionOf(workspaceId, typeId, made))
}

/** The type that gets a built-in field, and the number in the names of the field's columns. */
interface BuiltinFieldLocation {
  readonly workspaceId: string
  readonly typeId: string
  readonly typeKey: string
  readonly number: number
}

/** Adds a built-in field to an existing type, with its columns and indexes. */
export async function createBuiltinField(tx: Tx, place: BuiltinFieldLocation, field: BuiltinField): Promise<void> {
  const { workspaceId, typeId, typeKey, number } = place
  const made = newField(field, number)
  await tx.query(insertionOf(workspaceId, typeId, [made]))
  await addColumns(tx, schemaOf(workspaceId), typeKey, made)
}

/** A built-in field with its id and the names of its columns. */
type NewField = ReturnType<typeof newField>

function newField({ key, label, type, autogen = '', rules = {}, ...field }: BuiltinField, number: number) {
  const column = columnOf(key, number)
  const { required, unique } = { required: field.required === true, unique: field.unique === true }
  return { id: newId(), key, label, type, required, unique, autogen, rules, column, codeColumn: codeColumnOf(type, column) }
}

const insertionOf = (workspaceId: string, typeId: string, fields: readonly NewField[]) =>
  insertFields(
    workspaceId,
    typeId,
    fields.map(({ id }) => id),
    fields.map(({ key }) => key),
    fields.map(({ label }) => label),
    fields.map(({ type }) => type),
    fields.map(({ required }) => required),
    fields.map(({ unique }) => unique),
    fields.map(({ autogen }) => autogen),
    fields.map(({ rules }) => JSON.stringify(rules)),
    fields.map(({ column }) => column),
  )

/** Makes a custom field a built-in one with this definition. */
export async function convertToBuiltinField(tx: Tx, workspaceId: string, field: Field): Promise<void> {
  const { id, required, unique, autogen, rules } = field
  await tx.query(adopt(workspaceId, id, required, unique, autogen, JSON.stringify(rules)))
}

/** Activates a new workspace; no row when it is active already. Values: workspace, version of the built-in types. */
export const activateWorkspace = sql(
  'activate_workspace',
  `update workspaces set status = 'active', builtin_version = $2 where id = $1 and status = 'provisioning' returning id`,
)

/** Workspaces whose built-in types have a lower version, by id. Values: version, the id to go on after, how many. */
export const findWorkspacesBehind = sql(
  'find_workspaces_behind',
  `select id from workspaces where builtin_version < $1 and id > $2 and status <> 'provisioning' order by id limit $3`,
)

/** Stores the version of a workspace's built-in types. Values: workspace, version. */
export const noteBuiltinVersion = sql(
  'note_builtin_version',
  'update workspaces set builtin_version = $2 where id = $1 and builtin_version < $2',
)

/** Locks a workspace, so that one upgrade of its built-in types runs at a time. Values: workspace. */
export const lockUpgradedWorkspace = sql('lock_upgraded_workspace', 'select id from workspaces where id = $1 for no key update')

/** Declared fields that workspaces lack, or have as fields of their own. Values: type keys and field keys as parallel arrays, version. */
export const findUpgradesLeft = sql(
  'find_upgrades_left',
  `select workspace.id as workspace_id, declared.type, declared.field, workspace.builtin_version < $3 as is_behind,
     type.system as is_builtin_type, field.type as field_type
   from workspaces as workspace
   cross join unnest($1::text[], $2::text[]) as declared (type, field)
   left join record_types as type on type.workspace_id = workspace.id and type.key = declared.type
   left join fields as field on field.workspace_id = workspace.id and field.type_id = type.id and field.key = declared.field
   where workspace.status <> 'provisioning' and (type.system is not true or field.system is not true)
   order by workspace.id, declared.type, declared.field`,
)
