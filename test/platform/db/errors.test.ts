import test from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('errors: a statement that the database refuses leaves the connection as it is; one that ends the connection gets another', async (t) => {
  const { config, db } = await start()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'errors', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  const backend = async () => (await database.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' }))[0]?.pid
  const first = await backend()
  for (const text of ['select 1 / 0', 'select nothing', `set statement_timeout = '1ms'; select pg_sleep(10)`]) {
    await t.throwsAsync(database.query({ text }))
    t.is(await backend(), first, text)
  }
  const sleeping = t.throwsAsync(database.query({ text: 'select pg_sleep(60)' }))
  const isAsleep = `select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`
  while ((await db.query(isAsleep, [first])).rowCount === 0);
  await db.query('select pg_terminate_backend($1)', [first])
  await sleeping
  t.not(await backend(), first)
})
