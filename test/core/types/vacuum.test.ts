import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('vacuum: tables of records are vacuumed after few changes', async (t) => {
  const w = await shared()
  const { rows } = await w.db.query<{ name: string; settings: string[] }>(
    `select relname as name, array(select unnest(reloptions) order by 1) as settings from pg_class
     where relkind = 'r' and relnamespace = to_regnamespace($1) order by name`,
    [`ws_${w.org.id.replaceAll('-', '')}`],
  )
  t.true(rows.length > 2)
  const settings = [
    'autovacuum_vacuum_insert_scale_factor=0.02',
    'autovacuum_vacuum_insert_threshold=1000',
    'autovacuum_vacuum_scale_factor=0.02',
    'autovacuum_vacuum_threshold=1000',
    'fillfactor=90',
  ]
  for (const row of rows) t.deepEqual(row.settings, settings, row.name)
})
