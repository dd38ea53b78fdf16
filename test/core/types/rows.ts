import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Db } from '#test/support/rows.ts'

/** Adds menu groups to a workspace. */
export async function addMenuGroups(db: Db, workspaceId: string, count: number): Promise<void> {
  const statement = `insert into modules (workspace_id, slug, name) select $1, 'm' || n, 'M' from generate_series(1, $2::int) as n`
  await db.query(statement, [workspaceId, count])
}

/** Adds record types to a workspace, without tables. */
export async function addTypes(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into record_types (workspace_id, id, key, label)
     select $1, uuidv7(), 'type_' || n, 'T' from generate_series(1, $2::int) as n`,
    [workspaceId, count],
  )
}

/** Adds columns to a table and drops them; they count towards the columns that it may ever have. */
export async function dropColumns(db: Db, table: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  await db.query(`alter table ${table} ${names.map((name) => `add column ${name} text`).join(', ')}`)
  await db.query(`alter table ${table} ${names.map((name) => `drop column ${name}`).join(', ')}`)
}

/** The statement that drops a table. */
export const dropTable = (table: string) => ({ text: `drop table ${table}` })

/** The definitions of the indexes of a schema, by name. */
export async function listIndexDefinitions(db: Db, schema: string): Promise<string[]> {
  const statement = 'select indexdef from pg_indexes where schemaname = $1 order by indexname'
  return (await db.query<{ indexdef: string }>(statement, [schema])).rows.map(({ indexdef }) => indexdef)
}

/** The names of the tables in a workspace's schema, in alphabetical order. */
export async function listTables(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ relname: string }>(
    `select relname from pg_class where relnamespace = to_regnamespace($1) and relkind = 'r' order by relname`,
    [schemaOf(workspaceId)],
  )
  return rows.map(({ relname }) => relname)
}

/** Makes a type have had so many columns. */
export async function setColumnCount(db: Db, workspaceId: string, typeKey: string, count: number): Promise<void> {
  await db.query('update record_types set column_count = $3 where workspace_id = $1 and key = $2', [workspaceId, typeKey, count])
}

/** Makes a built-in field of a workspace one of its own. */
export async function makeFieldCustom(db: Db, workspaceId: string, fieldKey: string): Promise<void> {
  await db.query('update fields set system = false where key = $2 and workspace_id = $1', [workspaceId, fieldKey])
}

/** The version of the built-in types that each workspace has, by its id. */
export async function readBuiltinVersions(db: Db): Promise<Record<string, number>> {
  const { rows } = await db.query<{ id: string; builtin_version: number }>('select id, builtin_version from workspaces order by id')
  return Object.fromEntries(rows.map(({ id, builtin_version }) => [id, builtin_version]))
}

/** The generic plan of a prepared statement that lists 50 records by a reference, for a connection that avoids scans and sorts. */
export async function readReferencePlan(db: Db, table: string, column: string, id: string): Promise<string> {
  await db.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_sort = off')
  await db.query(`prepare of_reference (uuid) as select id from ${table} where ${column} = $1 order by id desc limit 50`)
  return JSON.stringify((await db.query(`explain execute of_reference ('${id}')`)).rows)
}

/** A table and its storage settings. */
export interface TableSettings {
  readonly name: string
  readonly settings: readonly string[] | null
}

/** The storage settings of every table in these schemas, by name. */
export async function readTableSettings(db: Db, schemas: readonly string[]): Promise<TableSettings[]> {
  const { rows } = await db.query<TableSettings>(
    `select relnamespace::regnamespace || '.' || relname as name, array(select unnest(reloptions) order by 1) as settings from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text = any($1) order by name`,
    [schemas],
  )
  return rows
}

/** Renames a table of a record type; the new name has no schema. */
export async function renameTable(db: Db, table: string, name: string): Promise<void> {
  await db.query(`alter table ${table} rename to ${name}`)
}
