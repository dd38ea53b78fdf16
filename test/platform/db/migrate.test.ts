import { randomBytes } from 'node:crypto'
import test from 'ava'
import pg from 'pg'
import { startApi } from '#api/server.ts'
import { migrate, migrationLockKey } from '#shared/platform/db/migrate.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { eventually } from '#test/support/eventually.ts'
import { cloneTemplate, dropDatabase } from '#test/support/template.ts'

const lock = 'select pg_advisory_lock($1)'
const unlock = 'select pg_advisory_unlock($1)'
const waitingSessions = `select from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() and query like '%advisory_lock%'`
const createIndex = 'create index concurrently beside_migrations on workspaces (created_at)'
const dropQueues = 'drop schema pgboss cascade'

test('migrate: a process that waits for another process’s migrations does not block their concurrent indexes', async (t) => {
  const { name, url } = await cloneTemplate(`migrate_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(lock, [migrationLockKey])
  const waiting = migrate(url)
  await eventually(async () => (await client.query(waitingSessions, [name])).rowCount !== 0)
  await t.notThrowsAsync(client.query(createIndex))
  await client.query(unlock, [migrationLockKey])
  await t.notThrowsAsync(waiting)
})

test('migrate: a process on a database that is not migrated or unreachable reports it and what to do', async (t) => {
  const { name, url } = await cloneTemplate(`unmigrated_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(dropQueues)
  await client.end()
  for (const databaseUrl of [url, 'postgres://localhost:1/x']) {
    const config = readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY: '0'.repeat(64), PORT: '0' })
    await t.throwsAsync(startApi(config, createLogger('api', 'silent')), { message: /out of reach, or not migrated by kontor migrate: / })
  }
})
