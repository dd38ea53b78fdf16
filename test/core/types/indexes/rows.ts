import { hexOf, schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Db } from '#test/support/rows.ts'

/** Creates a table under the name that the index of a field's values would get; returns the table's name. */
export async function blockIndexName(db: Db, workspaceId: string, fieldId: string): Promise<string> {
  const table = `${schemaOf(workspaceId)}.value_${hexOf(fieldId)}`
  await db.query(`create table ${table} ()`)
  return table
}

/** The number of sessions that build indexes. */
export async function countBuilders(db: Db): Promise<number> {
  const builders = `select from pg_stat_activity where datname = current_database() and application_name = 'kontor worker indexes'`
  return (await db.query(builders)).rowCount ?? 0
}

/** The number of failed builds of all indexes. */
export async function countBuildFailures(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select coalesce(sum(failures), 0)::integer as count from field_indexes')
  return rows[0]?.count ?? 0
}

/** The number of indexes of values and of descending order that PostgreSQL has not completed. */
export async function countInvalidIndexes(db: Db): Promise<number> {
  const statement = `select from pg_index join pg_class on oid = indexrelid where relname ~ '^(value|descending)_' and not indisvalid`
  return (await db.query(statement)).rowCount ?? 0
}

/** Drops a table. */
export async function dropBlockingTable(db: Db, table: string): Promise<void> {
  await db.query(`drop table ${table}`)
}

/** The number of rows that the planner expects of a search for text in a column. */
export async function estimateMatches(db: Db, table: string, column: string, text: string): Promise<number> {
  const { rows } = await db.query(
    `explain (format json) select from ${table} where lower("${column}" collate "pg_c_utf8") like '%${text}%'`,
  )
  return rows[0]['QUERY PLAN'][0].Plan['Plan Rows']
}

/** The statement that explains a search; the condition is its parameter. */
export const explainSearch = (table: string): string => `explain (format json) select from ${table} where ?`

/** A use of a field as it is stored. */
export interface StoredUse {
  readonly field_id: string
  readonly use: string
  /** A whole number. */
  readonly score: number
}

/** The uses that are stored of all fields. */
export async function readFieldUses(db: Db): Promise<StoredUse[]> {
  return (await db.query<StoredUse>('select field_id, use, round(score) as score from field_uses')).rows
}

/** Stores uses of pairs of the fields `n<number>` of a workspace with all its others, of scores from `least` up. Returns their number. */
export async function fillPairUses(db: Db, workspaceId: string, least: number): Promise<number> {
  const { rowCount } = await db.query(
    `with typed as (
       select field.id, field.key, field.position from fields as field
       join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
       where field.workspace_id = $1 and type.key = 'deals'
     )
     insert into field_uses (workspace_id, field_id, use, score, used_at)
     select $1, field.id, 'range:' || lead.id, $2 + row_number() over (order by field.position, lead.position), now()
     from typed as field join typed as lead on lead.id <> field.id
     where field.key ~ '^n[0-9]+$'`,
    [workspaceId, least],
  )
  return rowCount ?? 0
}

/** The known trigrams of a field's values. */
export interface StoredTrigrams {
  readonly common: readonly string[]
  readonly frequent: readonly string[]
}

/** The stored trigrams of a field's values; undefined without an index. */
export async function readTrigrams(db: Db, fieldId: string): Promise<StoredTrigrams | undefined> {
  const statement = 'select common_trigrams as common, frequent_trigrams as frequent from field_indexes where field_id = $1'
  return (await db.query<StoredTrigrams>(statement, [fieldId])).rows[0]
}

/** An index by use: its kind, its field's id without hyphens, and the key of the field that leads a pair, from the index's first column. */
export interface IndexName {
  readonly kind: string
  readonly field: string
  readonly lead: string | null
}

/** The valid indexes by use of a workspace's tables. */
export async function readIndexNames(db: Db, workspaceId: string): Promise<IndexName[]> {
  const statement = `select split_part(relname, '_', 1) as kind, substring(relname from '[0-9a-f]{32}$') as field,
      case when relname ~ '^[a-z]+_[0-9]+_' then regexp_replace(pg_get_indexdef(indexrelid, 1, true), '_[0-9]+$', '') end as lead
    from pg_index join pg_class on oid = indexrelid
    where relnamespace = to_regnamespace($1) and indisvalid and relname ~ '^(value|ascending|descending|hash|trigram|entries)_'`
  return (await db.query<IndexName>(statement, [schemaOf(workspaceId)])).rows
}

/** Vacuums a table and updates its statistics. */
export async function vacuumTable(db: Db, table: string): Promise<void> {
  await db.query(`vacuum analyze ${table}`)
}

/** The plan of a search with two conditions, as text. */
export async function explainCount(db: Db, table: string, condition: string): Promise<string> {
  const { rows } = await db.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) select count(*) from ${table} where ${condition}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

/** Replaces a part of each value of a column. */
export async function replaceInColumn(db: Db, table: string, column: string, from: string, to: string): Promise<void> {
  await db.query(`update ${table} set "${column}" = replace("${column}", $1, $2)`, [from, to])
}

/** Stores other common trigrams, and no frequent ones, for every index. */
export async function setCommonTrigrams(db: Db, trigrams: readonly string[]): Promise<void> {
  await db.query('update field_indexes set common_trigrams = $1, frequent_trigrams = default', [trigrams])
}

/** Makes the counts of each of a workspace's types this number. */
export async function setRecordCounts(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query('update record_counts set records = $2 where workspace_id = $1', [workspaceId, count])
}
