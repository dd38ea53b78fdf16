import type { Place } from '#test/support/things.ts'

const tables = `
  select format('%I.%I', c.table_schema, c.table_name) as name, c.column_name as workspace
  from information_schema.columns as c
  where c.table_schema = 'public' and (c.column_name = 'workspace_id' or (c.table_name, c.column_name) = ('workspaces', 'id'))
  union all
  select format('%I.%I', table_schema, table_name), null from information_schema.tables where table_schema = $1
  order by 1`

/** A digest of every row that a workspace has, by table: those that all workspaces share, and its own. */
export async function snapshotOf({ world: { db }, org }: Place): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ name: string; workspace: string | null }>(tables, [`ws_${org.id.replaceAll('-', '')}`])
  const digests = rows.map(
    ({ name, workspace }) =>
      `select '${name}' as name, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as rows from ${name} as t` +
      (workspace === null ? '' : ` where ${workspace} = '${org.id}'`),
  )
  const found = await db.query<{ name: string; rows: string }>(digests.join(' union all '))
  return new Map(found.rows.map((row) => [row.name, row.rows]))
}
