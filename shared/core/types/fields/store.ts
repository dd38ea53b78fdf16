import type { Field } from '#shared/core/types/fields/field.ts'
import { toField } from '#shared/core/types/record-type.ts'
import { fieldColumns, fieldList } from '#shared/core/types/types/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { bigint, boolean, integer, jsonb, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ fields_key: ['KEY_TAKEN', 'key is already used by another field of the record type'] })

/** Allocates the columns of a new field and locks its type as `lockType` does; no row when the type does not exist. */
export const allocateField = statement(
  'types.allocateField',
  `update record_types set column_count = column_count + $columns
   where workspace_id = $workspaceId and key = $typeKey
   returning id as type_id, column_count, nextval('column_numbers') as number`,
  {
    params: { workspaceId: uuid, typeKey: text, columns: integer },
    columns: {
      type_id: uuid.notNull,
      /** Number of columns that the type's table has ever had, including those of the new field. */
      column_count: integer.notNull,
      /** The number in the names of the new field's columns. */
      number: bigint.notNull,
    },
  },
)

/**
 * Creates a field; no row when the type already has `maxFields`. Call it with the type locked, so that concurrent creations together stay
 * within the maximum.
 */
export const insertField = statement(
  'types.insertField',
  `insert into fields as field
     (workspace_id, id, type_id, key, label, type, required, is_unique, immutable, description, rules, column_name)
   select
     $workspaceId, $id, $typeId, $key, $label, $type, $required, $unique, $immutable, $description, $rules, $column
   where (select count(*) from fields where workspace_id = $workspaceId and type_id = $typeId) < $maxFields
   returning ${fieldList}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      typeId: uuid,
      key: text,
      label: text,
      type: text,
      required: boolean,
      unique: boolean,
      immutable: boolean,
      description: text,
      rules: jsonb,
      column: text,
      maxFields: bigint,
    },
    columns: fieldColumns,
  },
)

const selectField = statement(
  'types.selectField',
  `select type.key as entity_type, ${fieldList}
   from fields as field
   join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
   where field.workspace_id = $workspaceId and field.id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns: { entity_type: text.notNull, ...fieldColumns } },
)

/** The type of a changed field, and whether its value is another one than before. */
const changedField = { type_id: uuid.notNull, differs: boolean.notNull }

/** Sets the description of a custom field; no row for any other field. */
export const updateFieldDescription = statement(
  'types.updateFieldDescription',
  `update fields set description = $description where workspace_id = $workspaceId and id = $id and not system
   returning type_id, old.description is distinct from new.description as differs`,
  { params: { workspaceId: uuid, id: uuid, description: text }, columns: changedField },
)

/** Sets the type that a custom reference field targets; no row for any other field. */
export const updateRefType = statement(
  'types.updateRefType',
  `update fields set rules = rules || jsonb_build_object('ref_type', $refType::text)
   where workspace_id = $workspaceId and id = $id and not system
   returning type_id, old.rules is distinct from new.rules as differs`,
  { params: { workspaceId: uuid, id: uuid, refType: text }, columns: changedField },
)

/** Deletes a field's definition; no row when it is already deleted. */
export const deleteFieldRow = statement(
  'types.deleteFieldRow',
  'delete from fields where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** One field by its id; undefined when the workspace has none. */
export async function findField(db: Executor, workspaceId: string, fieldId: string): Promise<Field | undefined> {
  const [row] = await db.query(selectField({ workspaceId, id: fieldId }))
  return row && toField(row.entity_type, row)
}

/**
 * Sets a field's formula. Until the recompute has ended, records hold results of the previous formula, so `droppedReads`, the keys of the
 * fields that these derive from and the new results do not, are added to `stale_reads`.
 */
export const setFormula = statement(
  'types.setFormula',
  `update fields set rules = rules || jsonb_build_object('formula', $formula::text),
     stale_reads = nullif(coalesce(stale_reads, '{}') || $droppedReads::text[], '{}')
   where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid, formula: text, droppedReads: texts } },
)

/** Removes the formula of a field. */
export const dropFormula = statement(
  'types.dropFormula',
  `update fields set rules = rules - 'formula', stale_reads = null where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid } },
)

/** Adds to the stale reads of fields, whose stored results derive from them until a recompute has ended. */
export const addStaleReads = statement(
  'types.addStaleReads',
  `update fields set stale_reads = coalesce(stale_reads, '{}') || $reads::text[] where workspace_id = $workspaceId and id = any($ids::uuid[])`,
  { params: { workspaceId: uuid, ids: uuids, reads: texts } },
)

/** Gives a field another column. */
export const moveField = statement(
  'types.moveField',
  'update fields set column_name = $column where workspace_id = $workspaceId and id = $id',
  { params: { workspaceId: uuid, id: uuid, column: text } },
)

/** Changes a custom field. */
export const updateField = statement(
  'types.updateField',
  `update fields set label = $label, description = $description, required = $required, rules = $rules
   where workspace_id = $workspaceId and id = $id and not system`,
  { params: { workspaceId: uuid, id: uuid, label: text, description: text, required: boolean, rules: jsonb } },
)

/** Sets the auto-numbering pattern of a field; empty text switches it off. */
export const setAutogen = statement(
  'types.setAutogen',
  'update fields set autogen = $pattern where workspace_id = $workspaceId and id = $id',
  { params: { workspaceId: uuid, id: uuid, pattern: text } },
)

/** Makes the next number of a period at least this one. */
export const raiseNumber = statement(
  'types.raiseNumber',
  `insert into field_numbers as counter (workspace_id, field_id, period, next) values ($workspaceId, $fieldId, $period, $next)
   on conflict (workspace_id, field_id, period) do update set next = greatest(counter.next, excluded.next)`,
  { params: { workspaceId: uuid, fieldId: uuid, period: text, next: bigint } },
)
