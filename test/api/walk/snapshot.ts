import { createHash } from 'node:crypto'
import { eventually } from '#test/support/eventually.ts'
import type { Place } from '#test/support/things.ts'

// Without the figures of work, to which processes add meanwhile. From the catalogue itself: information_schema takes 20 ms, and this runs some 500 times.
const tables = `
  select format('%I.%I', space.nspname, part.relname) as name, named.attname as workspace
  from pg_class as part
  join pg_namespace as space on space.oid = part.relnamespace
  left join pg_attribute as named on space.nspname = 'public' and named.attrelid = part.oid and not named.attisdropped
    and (named.attname = 'workspace_id' or (part.relname, named.attname) = ('workspaces', 'id'))
  where part.relkind in ('r', 'p', 'v') and (space.nspname = $1 or named.attname is not null)
    and part.relname not in ('job_figures', 'workspace_figures')
  order by 1`

/** A digest of every row of a workspace by table, in shared tables and in its own, once its events have their numbers. */
export async function snapshotOf({ world: { db }, org }: Place): Promise<ReadonlyMap<string, string>> {
  await eventually(async () => (await db.query('select from event_inbox where workspace_id = $1 limit 1', [org.id])).rowCount === 0)
  const { rows } = await db.query<{ name: string; workspace: string | null }>(tables, [`ws_${org.id.replaceAll('-', '')}`])
  const digests = rows.map(
    ({ name, workspace }) =>
      `select '${name}' as name, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as rows from ${name} as t` +
      (workspace === null ? '' : ` where ${workspace} = '${org.id}'`),
  )
  const text = digests.join(' union all ')
  // Prepared, since planning takes longer than execution.
  const name = createHash('md5').update(text).digest('hex')
  const found = await db.query<{ name: string; rows: string }>({ name, text })
  return new Map(found.rows.map((row) => [row.name, row.rows]))
}
