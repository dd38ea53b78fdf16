import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import pg from 'pg'
import { startApi } from '#api/server.ts'
import { migrate, migrationLockKey } from '#shared/platform/db/migrate.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { eventually } from '#test/support/eventually.ts'
import { cloneTemplate, dropDatabase } from '#test/support/template.ts'
import { startWorker } from '#workers/worker.ts'

const forgetAll = 'delete from migrations'
const addApplied = 'insert into migrations (name, batch) select unnest($1::text[]), 1'
const listApplied = 'select name from migrations order by name'

const lock = 'select pg_advisory_lock($1)'
const unlock = 'select pg_advisory_unlock($1)'
const waitingSessions = `select from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() and query like '%advisory_lock%'`
const createIndex = 'create index concurrently beside_migrations on workspaces (created_at)'

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

test('migrate: a process on a database that is not migrated reports it and what to do', async (t) => {
  const { name, url } = await cloneTemplate(`unmigrated_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(forgetAll)
  await client.end()
  const config = readConfig({ DATABASE_URL: url, SECRET_KEY: '0'.repeat(64), PORT: '0' })
  await t.throwsAsync(startApi(config, createLogger('api', 'silent')), {
    message: 'The database is not migrated: run bin/kontor migrate first',
  })
})

test('migrate: a database with migrations of before the squash is refused by every start, and left as it is', async (t) => {
  const { name, url } = await cloneTemplate(`squashed_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const dataDir = await mkdtemp(join(tmpdir(), 'kontor-test-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  // A later name than those of today must not pass for a newer release.
  const old = ['0001-people.ts', '0052-workspace-logo.ts']
  await client.query(forgetAll)
  await client.query(addApplied, [old])

  const message =
    'This database was made by a release whose migrations are no longer part of Kontor (0001-people.ts): export your data with that ' +
    'release, then start this one with an empty database, for npm start by deleting the folder .data.'
  const environment = { DATABASE_URL: url, DATA_DIR: dataDir, SECRET_KEY: '0'.repeat(64), PORT: '0' }
  const log = createLogger('test', 'silent')
  await t.throwsAsync(migrate(url), { message })
  await t.throwsAsync(startApi(readConfig(environment), log), { message })
  await t.throwsAsync(startWorker(readConfig(environment), ['data'], log), { message })
  const { code, output } = await npmStart(environment)
  t.is(code, 1)
  t.true(output.includes(message), output)
  t.deepEqual(
    (await client.query(listApplied)).rows.map((row) => row.name),
    old,
  )
})

const forgetRights = `delete from migrations where name = '0015-bound-rights.ts';
  alter table message_templates drop column flow_references;
  drop function template_flow_references, flow_references;
  alter table roles drop column policy_bytes;
  drop function compact_json_bytes;
  drop trigger notification_rules_cap on notification_rules;
  drop trigger notification_rules_moved on notification_rules;
  drop function limit_notification_rules;`
const addPerson = `insert into users (id, email, name, password_hash) values ($1, 'a@example.com', 'Ann', 'none')`
const addWorkspace = `insert into workspaces (id, name, plan, owner_id) values ($1, 'Acme', 'paid', $1)`
const addTemplate = `insert into message_templates (workspace_id, id, name, subject, body_text, body_html, created_at, updated_at)
  values ($1, $2, 'A', 'Of {{trigger.record.name}}', 'Hello {{name}} {{ item.price }}', '', now(), now())`
const addFlow = `with flow as (
    insert into flows (workspace_id, id, name, created_at, updated_at) values ($1, $2, $3, now(), now()) returning workspace_id, id
  )
  insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
  select workspace_id, id, 1, $4, '[]', '{}', gen_random_uuid(), now() from flow`

test('migrate: flows whose templates named values of the flow are logged with their workspace and template', async (t) => {
  const { name, url } = await cloneTemplate(`templates_${randomBytes(4).toString('hex')}`)
  t.teardown(() => dropDatabase(name))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const [workspaceId, templateId, flowId, coveredId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await client.query(forgetRights)
  await client.query(addPerson, [workspaceId])
  await client.query(addWorkspace, [workspaceId])
  await client.query(addTemplate, [workspaceId, templateId])
  const send = (config: object) =>
    JSON.stringify([{ id: 'm', type: 'action.send_message', config: { template_id: templateId, ...config } }])
  await client.query(addFlow, [workspaceId, flowId, 'Greet', send({ vars: { name: 'Ann' } })])
  await client.query(addFlow, [workspaceId, coveredId, 'Other', send({ subject: 'Own', vars: { 'item.price': '{{item.price}}' } })])
  t.deepEqual((await migrate(url)).warnings, [
    `workspace ${workspaceId}: flow ${flowId} (Greet) sends template ${templateId} at m, which names item.price, trigger.record.name and ` +
      'gets no such vars: the step will fail',
  ])
  t.deepEqual(await migrate(url), { applied: [], warnings: [] })
})

const npmStart = (environment: NodeJS.ProcessEnv): Promise<{ code: unknown; output: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, ...environment, PORT: '' }
    execFile(process.execPath, ['scripts/start.ts'], { env }, (error, out, err) => resolve({ code: error?.code, output: out + err }))
  })
