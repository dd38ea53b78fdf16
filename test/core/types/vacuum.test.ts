import test from 'ava'
import { migrate } from '#shared/platform/db/migrate.ts'
import { createOrg } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

const migration = '0016-record-vacuum.ts'

test('vacuum: tables of records are vacuumed after as few changes in workspaces that there were before as in new ones', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const schemas = [w.org.id, (await createOrg(w)).id].map((id) => `ws_${id.replaceAll('-', '')}`)
  const read = async () => {
    const { rows } = await w.db.query<{ name: string; settings: string[] | null }>(
      `select relnamespace::regnamespace || '.' || relname as name, array(select unnest(reloptions) order by 1) as settings from pg_class
       where relkind = 'r' and relnamespace::regnamespace::text = any($1) order by name`,
      [schemas],
    )
    return rows
  }
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
    await w.db.query(`alter table ${name} reset (autovacuum_vacuum_threshold, autovacuum_vacuum_scale_factor,
      autovacuum_vacuum_insert_threshold, autovacuum_vacuum_insert_scale_factor)`)
  }
  t.deepEqual(new Set((await read()).map(({ settings }) => settings?.join())), new Set(['fillfactor=90']))

  await w.db.query('delete from migrations where name = $1', [migration])
  await migrate(w.config.databaseUrl)
  t.deepEqual(await read(), made)
})
