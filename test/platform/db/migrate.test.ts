import { randomBytes } from 'node:crypto'
import test from 'ava'
import pg from 'pg'
import { startApi } from '#api/server.ts'
import { migrate, migrationLockKey } from '#shared/platform/db/migrate.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { cloneTemplate, dropDatabase } from '#test/support/template.ts'

test('migrate: who waits for migrations of another process holds up no index that they create concurrently', async (t) => {
  const { name, url } = await cloneTemplate(`migrate_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('select pg_advisory_lock($1)', [migrationLockKey])
  const waiting = migrate(url)
  const asked = `select from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() and query like '%advisory_lock%'`
  while ((await client.query(asked, [name])).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await t.notThrowsAsync(client.query('create index concurrently beside_migrations on workspaces (created_at)'))
  await client.query('select pg_advisory_unlock($1)', [migrationLockKey])
  await t.notThrowsAsync(waiting)
})

test('migrate: a process on a database that is not migrated, or out of reach, says so and what to do', async (t) => {
  const { name, url } = await cloneTemplate(`unmigrated_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('drop schema pgboss cascade')
  await client.end()
  for (const databaseUrl of [url, 'postgres://localhost:1/x']) {
    const config = readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY: '0'.repeat(64), PORT: '0' })
    await t.throwsAsync(startApi(config, createLogger('api', 'silent')), { message: /out of reach, or not migrated by kontor migrate: / })
  }
})
