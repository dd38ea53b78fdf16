import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { boolean, integer, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { buildStatement, statement } from '#shared/platform/db/statements/statement.ts'

/** Suspends a workspace for good, before its deletion; no row when there is none. */
export const markDeleting = statement(
  'workspaces.markDeleting',
  `update workspaces set status = 'suspended', deleting_at = coalesce(deleting_at, now()) where id = $id returning id, name`,
  { params: { id: uuid }, columns: { id: uuid.notNull, name: text.notNull } },
)

const selectDeleting = statement('workspaces.selectDeleting', 'select is_being_deleted($id) as deleting', {
  params: { id: uuid },
  columns: { deleting: boolean.notNull },
})
/** Whether the deletion of a workspace was asked for and has not ended. */
export const isBeingDeleted = async (db: Executor, id: string): Promise<boolean> =>
  (await db.query(selectDeleting({ id })))[0]?.deleting ?? false

// Blobs go by their bytes, and the workspace goes last.
const selectTablesOfWorkspaces = statement(
  'workspaces.selectTablesOfWorkspaces',
  `select class.relname::text as name
   from pg_class as class join pg_attribute as attribute on attribute.attrelid = class.oid
   where class.relnamespace = 'public'::regnamespace and class.relkind in ('r', 'p') and not class.relispartition
     and attribute.attname = 'workspace_id' and not attribute.attisdropped and class.relname <> 'blobs'
   order by class.relname`,
  { params: {}, columns: { name: text.notNull } },
)
/** The tables of the platform whose rows belong to workspaces, whatever feature they are of. */
export const listTablesOfWorkspaces = async (db: Executor): Promise<string[]> =>
  (await db.query(selectTablesOfWorkspaces())).map(({ name }) => name)

/** Deletes up to `limit` rows of a workspace from a table and returns their number. */
export async function deleteRows(db: Executor, table: string, workspaceId: string, limit: number): Promise<number> {
  const rows = builder.raw(
    `delete from ?? where workspace_id = ? and ctid = any(array(select ctid from ?? where workspace_id = ? limit ?)) returning 1 as gone`,
    [table, workspaceId, table, workspaceId, limit],
  )
  return (await db.query(buildStatement(rows, { gone: integer.notNull }))).length
}

const selectRecordTables = statement(
  'workspaces.selectRecordTables',
  `select relname::text as name from pg_class where relnamespace = to_regnamespace($schema) and relkind = 'r' order by relname`,
  { params: { schema: text }, columns: { name: text.notNull } },
)
/** Drops the schema with the records of a workspace. Table by table, since one transaction can lock only some thousand tables and indexes. */
export async function dropWorkspaceSchema(db: Executor, workspaceId: string): Promise<void> {
  const schema = schemaOf(workspaceId)
  for (const { name } of await db.query(selectRecordTables({ schema }))) {
    await db.query(buildStatement(builder.raw('drop table if exists ??.?? cascade', [schema, name])))
  }
  await db.query(buildStatement(builder.raw('drop schema if exists ?? cascade', [schema])))
}

export const removeWorkspace = statement(
  'workspaces.removeWorkspace',
  'delete from workspaces where id = $id and deleting_at is not null',
  { params: { id: uuid } },
)
