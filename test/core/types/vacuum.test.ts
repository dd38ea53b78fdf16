import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { migrate } from '#shared/platform/db/migrate.ts'
import { forgetMigration, readTableSettings, resetVacuumSettings } from '#test/core/types/rows.ts'
import { createOrg } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

const migration = '0016-record-vacuum.ts'

test('vacuum: tables of existing workspaces are vacuumed after as few changes as those of new ones', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const schemas = [w.org.id, (await createOrg(w)).id].map(schemaOf)
  const read = () => readTableSettings(w.db, schemas)
  const made = await read()
  t.true(made.length > 2)
  for (const { name, settings } of made) {
    t.deepEqual(
      settings,
      [
        'autovacuum_vacuum_insert_scale_factor=0.02',
        'autovacuum_vacuum_insert_threshold=1000',
        'autovacuum_vacuum_scale_factor=0.02',
        'autovacuum_vacuum_threshold=1000',
        'fillfactor=90',
      ],
      name,
    )
    await resetVacuumSettings(w.db, name)
  }
  t.deepEqual(new Set((await read()).map(({ settings }) => settings?.join())), new Set(['fillfactor=90']))

  await forgetMigration(w.db, migration)
  await migrate(w.config.databaseUrl)
  t.deepEqual(await read(), made)
})
