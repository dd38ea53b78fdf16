import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { readTableSettings } from '#test/core/types/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('vacuum: tables of records are vacuumed after few changes', async (t) => {
  const w = await shared()
  const rows = await readTableSettings(w.db, [schemaOf(w.org.id)])
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
