import test from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

const readProcessId = { text: 'select pg_backend_pid() as pid' }
const refused = ['select 1 / 0', 'select nothing', `set statement_timeout = '1ms'; select pg_sleep(10)`]
const sleep = { text: 'select pg_sleep(60)' }
const sleeping = `select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`
const terminate = 'select pg_terminate_backend($1)'

test('errors: a statement that is refused keeps its connection; one that ends it gets another', async (t) => {
  const { config, db } = await start()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'errors', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  const backend = async () => (await database.query<{ pid: number }>(readProcessId))[0]?.pid
  const first = await backend()
  for (const text of refused) {
    await t.throwsAsync(database.query({ text }))
    t.is(await backend(), first, text)
  }
  const ended = t.throwsAsync(database.query(sleep))
  await eventually(async () => (await db.query(sleeping, [first])).rowCount !== 0)
  await db.query(terminate, [first])
  await ended
  t.not(await backend(), first)
})
