import type { Field } from '#shared/core/types/fields/field.ts'
import { type FieldRow, toField } from '#shared/core/types/record-type.ts'
import { fieldColumns } from '#shared/core/types/types/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ fields_key: ['KEY_TAKEN', 'key is already used by another field of the record type'] })

/** The result of `allocateField`. */
export interface FieldAllocation {
  readonly type_id: string
  /** Number of columns that the type's table has ever had, including those of the new field. */
  readonly column_count: number
  /** The number in the names of the new field's columns. */
  readonly number: number
}

/**
 * Allocates the columns of a new field and locks its type as `lockType` does; no row when the type does not exist. Values: workspace, type
 * key, number of columns.
 */
export const allocateField = sql(
  'take_field_place',
  `update record_types set column_count = column_count + $3
   where workspace_id = $1 and key = $2
   returning id as type_id, column_count, nextval('column_numbers') as number`,
)

/**
 * Creates a field; no row when the type already has the maximum number of fields. Call it with the type locked, so that concurrent
 * creations together stay within the maximum. Values: workspace, id, type id, key, label, type, required, unique, immutable, description,
 * rules, column, maximum of fields.
 */
export const insertField = sql(
  'insert_field',
  `insert into fields as field
     (workspace_id, id, type_id, key, label, type, required, is_unique, immutable, description, rules, column_name)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
   where (select count(*) from fields where workspace_id = $1 and type_id = $3) < $13
   returning ${fieldColumns}`,
)

const find = sql(
  'find_field',
  `select type.key as entity_type, ${fieldColumns}
   from fields as field
   join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
   where field.workspace_id = $1 and field.id = $2`,
)

/** Sets the description of a custom field; no row for any other field. Values: workspace, id, description. */
export const updateFieldDescription = sql(
  'describe_field',
  'update fields set description = $3 where workspace_id = $1 and id = $2 and not system returning id',
)

/** Points a custom reference field at another type. Values: workspace, id, type key. */
export const updateRefType = sql(
  'repoint_field',
  `update fields set rules = rules || jsonb_build_object('ref_type', $3::text)
   where workspace_id = $1 and id = $2 and not system
   returning id`,
)

/** Deletes a field's definition; no row when it is gone already. Values: workspace, id. */
export const deleteFieldRow = sql('delete_field', 'delete from fields where workspace_id = $1 and id = $2 returning id')

/** One field by its id; undefined when the workspace has none. */
export async function findField(db: Executor, workspaceId: string, fieldId: string): Promise<Field | undefined> {
  const [row] = await db.query<FieldRow & { readonly entity_type: string }>(find(workspaceId, fieldId))
  return row && toField(row.entity_type, row)
}

/** Runs a statement that changes a field and returns a row, then reads the field; undefined when the statement returned no row. */
export function writeField(db: Executor, workspaceId: string, fieldId: string, statement: Statement): Promise<Field | undefined> {
  return db.transaction(async (tx) => {
    const rows = await tx.query(statement)
    return rows.length === 0 ? undefined : findField(tx, workspaceId, fieldId)
  })
}

/**
 * Sets a field's formula. Until the recompute has ended, records hold results of the previous formula, so the fields that it read are added
 * to `stale_reads`. Values: workspace, id, formula, keys of the fields that the previous formula reads.
 */
export const setFormula = sql(
  'set_formula',
  `update fields set rules = rules || jsonb_build_object('formula', $3::text),
     stale_reads = case when rules ? 'formula' then coalesce(stale_reads, '{}') || $4::text[] end
   where workspace_id = $1 and id = $2`,
)

/** Removes the formula of a field. Values: workspace, id. */
export const dropFormula = sql(
  'drop_formula',
  `update fields set rules = rules - 'formula', stale_reads = null where workspace_id = $1 and id = $2`,
)

/** Changes a custom field. Values: workspace, id, label, description, required, rules. */
export const updateField = sql(
  'change_field',
  'update fields set label = $3, description = $4, required = $5, rules = $6 where workspace_id = $1 and id = $2 and not system',
)

/** Sets the auto-numbering pattern of a field; empty text switches it off. Values: workspace, id, pattern. */
export const setAutogen = sql('set_autogen', 'update fields set autogen = $3 where workspace_id = $1 and id = $2')

/** Makes the next number of a period at least this one. Values: workspace, field, period, next. */
export const raiseNumber = sql(
  'raise_number',
  `insert into field_numbers as counter (workspace_id, field_id, period, next) values ($1, $2, $3, $4)
   on conflict (workspace_id, field_id, period) do update set next = greatest(counter.next, excluded.next)`,
)
