import type { BuiltinField, BuiltinType } from '#shared/core/types/builtin/builtin-types.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { addColumns, createTable } from '#shared/core/types/tables/store.ts'
import { codeColumnOf, columnOf, countColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import {
  bigint,
  boolean,
  booleans,
  integer,
  jsonb,
  jsonbs,
  type RowOf,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

const insertBuiltinType = statement(
  'types.insertBuiltinType',
  `insert into record_types (workspace_id, id, key, label, icon, system, column_count)
   values ($workspaceId, $id, $key, $label, $icon, true, $columnCount)`,
  { params: { workspaceId: uuid, id: uuid, key: text, label: text, icon: text, columnCount: integer } },
)

/** Creates fields in their order. The lists have one element per field. */
const insertBuiltinFields = statement(
  'types.insertBuiltinFields',
  `insert into fields (workspace_id, id, type_id, key, label, type, required, is_unique, autogen, rules, system, column_name)
   select $workspaceId, id, $typeId, key, label, type, required, is_unique, autogen, rules, true, column_name
   from unnest(
     $ids::uuid[], $keys::text[], $labels::text[], $types::text[], $required::boolean[], $unique::boolean[], $autogens::text[],
     $rules::jsonb[], $columns::text[]
   ) with ordinality as field (id, key, label, type, required, is_unique, autogen, rules, column_name, place)
   order by place`,
  {
    params: {
      workspaceId: uuid,
      typeId: uuid,
      ids: uuids,
      keys: texts,
      labels: texts,
      types: texts,
      required: booleans,
      unique: booleans,
      autogens: texts,
      rules: jsonbs,
      columns: texts,
    },
  },
)

const adoptField = statement(
  'types.adoptField',
  `update fields set system = true, required = $required, is_unique = $unique, autogen = $autogen, rules = $rules
   where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid, required: boolean, unique: boolean, autogen: text, rules: jsonb } },
)

/** Creates a built-in type with its table and fields, and returns its id. The numbers in the names of the fields' columns count from 1. */
export async function createBuiltinType(tx: Tx, workspaceId: string, { key, label, icon, fields }: BuiltinType): Promise<string> {
  const typeId = newId()
  const made = fields.map((field, index) => newField(field, index + 1))
  const columnCount = countColumns(fields.map(({ type }) => type))
  await tx.query(insertBuiltinType({ workspaceId, id: typeId, key, label, icon, columnCount }))
  await createTable(tx, schemaOf(workspaceId), key, typeId, made)
  await tx.query(insertionOf(workspaceId, typeId, made))
  return typeId
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
  insertBuiltinFields({
    workspaceId,
    typeId,
    ids: fields.map(({ id }) => id),
    keys: fields.map(({ key }) => key),
    labels: fields.map(({ label }) => label),
    types: fields.map(({ type }) => type),
    required: fields.map(({ required }) => required),
    unique: fields.map(({ unique }) => unique),
    autogens: fields.map(({ autogen }) => autogen),
    rules: fields.map(({ rules }) => JSON.stringify(rules)),
    columns: fields.map(({ column }) => column),
  })

/** Makes a custom field a built-in one with this definition. */
export async function convertToBuiltinField(tx: Tx, workspaceId: string, field: Field): Promise<void> {
  const { id, required, unique, autogen, rules } = field
  await tx.query(adoptField({ workspaceId, id, required, unique, autogen, rules: JSON.stringify(rules) }))
}

/** Activates a new workspace, whose built-in types have this version; no row when it is active already. */
export const activateWorkspace = statement(
  'types.activateWorkspace',
  `update workspaces set status = 'active', builtin_version = $version where id = $workspaceId and status = 'provisioning' returning id`,
  { params: { workspaceId: uuid, version: integer }, columns: { id: uuid.notNull } },
)

/** Workspaces whose built-in types have a lower version, ordered by id. */
export const findWorkspacesBehind = statement(
  'types.findWorkspacesBehind',
  `select id from workspaces
   where builtin_version < $version and id > $afterId and status <> 'provisioning'
   order by id limit $limit`,
  { params: { version: integer, afterId: uuid, limit: bigint }, columns: { id: uuid.notNull } },
)

/** Stores the version of a workspace's built-in types. */
export const setBuiltinVersion = statement(
  'types.setBuiltinVersion',
  'update workspaces set builtin_version = $version where id = $workspaceId and builtin_version < $version',
  { params: { workspaceId: uuid, version: integer } },
)

/** Locks a workspace, so that one upgrade of its built-in types runs at a time. */
export const lockUpgradedWorkspace = statement(
  'types.lockUpgradedWorkspace',
  'select id from workspaces where id = $workspaceId for no key update',
  { params: { workspaceId: uuid }, columns: { id: uuid.notNull } },
)

const upgradeColumns = {
  workspace_id: uuid.notNull,
  type: text.notNull,
  field: text.notNull,
  is_behind: boolean.notNull,
  /** Null when the workspace has no such type. */
  is_builtin_type: boolean,
  /** Null when the type has no such field. */
  field_type: text,
}

/** A declared field that a workspace lacks or has as its own. */
export type LeftUpgrade = RowOf<typeof upgradeColumns>

/** Declared fields that workspaces lack, or have as fields of their own. `typeKeys` and `fieldKeys` are parallel lists. */
export const findUpgradesLeft = statement(
  'types.findUpgradesLeft',
  `select workspace.id as workspace_id, declared.type, declared.field, workspace.builtin_version < $version as is_behind,
     type.system as is_builtin_type, field.type as field_type
   from workspaces as workspace
   cross join unnest($typeKeys::text[], $fieldKeys::text[]) as declared (type, field)
   left join record_types as type on type.workspace_id = workspace.id and type.key = declared.type
   left join fields as field on field.workspace_id = workspace.id and field.type_id = type.id and field.key = declared.field
   where workspace.status <> 'provisioning' and (type.system is not true or field.system is not true)
   order by workspace.id, declared.type, declared.field`,
  { params: { typeKeys: texts, fieldKeys: texts, version: integer }, columns: upgradeColumns },
)
