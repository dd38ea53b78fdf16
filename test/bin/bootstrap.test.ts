import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startApi } from '#api/server.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { callWith } from '#test/bin/call.ts'
import { holdWorkspaceCommits, listWorkspaceIds } from '#test/bin/rows.ts'
import { Client } from '#test/support/client.ts'
import { openPool } from '#test/support/pool.ts'
import { cloneTemplate, dropDatabase } from '#test/support/template.ts'

/** An unused database and data folder. */
async function untouched(t: ExecutionContext) {
  const { name, url } = await cloneTemplate(`boot_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  const dataDir = await mkdtemp(join(tmpdir(), 'kontor-test-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const db = openPool({ connectionString: url, max: 2 })
  t.teardown(() => db.end())
  const environment = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    SECRET_KEY: randomBytes(32).toString('hex'),
    PUBLIC_URL: 'http://kontor.example',
    PORT: '0',
    LOG_LEVEL: 'silent',
  }
  return { environment, dataDir, file: join(dataDir, 'bootstrap.json'), db }
}

/** Starts the API on it and gives a client without credentials. */
async function serve(t: ExecutionContext, environment: Record<string, string>): Promise<Client> {
  const config = readConfig(environment)
  const api = await startApi(config, createLogger('test', 'silent'))
  t.teardown(() => api.stop(1_000))
  return new Client(`http://127.0.0.1:${api.port}`, null)
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

test('bootstrap: an empty database gets the workspace Demo, and a file whose contents work', async (t) => {
  const { environment, dataDir, file, db } = await untouched(t)
  const made = await callWith(environment, 'bootstrap', '--json')
  t.deepEqual(made.json, { made: true, file })
  t.is(statSync(file).mode & 0o777, 0o600)
  t.deepEqual(await readdir(dataDir), ['bootstrap.json'], 'no other file is left')
  const { api_key, owner, org_id, ...addresses } = read(file)
  t.deepEqual(addresses, { base_url: 'http://kontor.example/v1', public_url: 'http://kontor.example' })
  t.deepEqual(Object.keys(owner).sort(), ['email', 'id', 'password'])
  const visitor = await serve(t, environment)
  const path = `/v1/orgs/${org_id}`
  const key = visitor.as(api_key)
  t.like((await key.get(path)).data, { name: 'Demo', status: 'active', owner_id: owner.id })
  t.like((await key.get(`${path}/iam/me`)).data, { owner: false, policy: [{ effect: 'allow', actions: ['*'], resources: '*' }] })
  t.like((await key.get(`${path}/iam/me`)).data.roles, [{ name: 'Admin' }])
  t.is((await key.post(`${path}/records/accounts`, { values: { code: '1', name: 'Cash' } })).status, 201)
  const session = await visitor.post('/v1/auth/sign-in', { email: owner.email, password: owner.password })
  t.is(session.data.user.id, owner.id)
  t.true((await visitor.as(session.data.token).get(`${path}/iam/me`)).data.owner)

  const before = readFileSync(file, 'utf8')
  t.deepEqual((await callWith(environment, 'bootstrap', '--json')).json, { made: false, file: null })
  t.is(readFileSync(file, 'utf8'), before)
  t.is((await listWorkspaceIds(db)).length, 1)
})

test('bootstrap: a database with a workspace and its file are left alone', async (t) => {
  const { environment, file } = await untouched(t)
  await callWith(environment, 'user', 'create', 'ann@example.com', 'Ann')
  await callWith(environment, 'org', 'create', 'Own', 'ann@example.com')
  t.false((await callWith(environment, 'bootstrap', '--json')).json.made)
  t.false(existsSync(file))
})

test('bootstrap: the file of another database is replaced when this one is empty', async (t) => {
  const { environment, file } = await untouched(t)
  writeFileSync(file, '{"api_key": "kt_old"')
  t.true((await callWith(environment, 'bootstrap', '--json')).json.made)
  t.regex(read(file).api_key, /^kt_[0-9A-Za-z]{71}$/)
  t.is(statSync(file).mode & 0o777, 0o600)
})

test('bootstrap: 20 starts at once create one workspace, and the file is its', async (t) => {
  const { environment, file, db } = await untouched(t)
  const starts = await Promise.all(Array.from({ length: 20 }, () => callWith(environment, 'bootstrap', '--json')))
  t.deepEqual(new Set(starts.map(({ code }) => code)), new Set([0]))
  t.is(starts.filter(({ json }) => json.made).length, 1)
  t.deepEqual(await listWorkspaceIds(db), [read(file).org_id])
})

test('bootstrap: a start that is killed between the file and the commit leaves no workspace, and the next replaces the file', async (t) => {
  const { environment, file, db } = await untouched(t)
  const hold = await holdWorkspaceCommits(db)
  const child = spawn(process.execPath, ['bin/kontor.ts', 'bootstrap'], { env: { ...process.env, ...environment }, stdio: 'ignore' })
  await hold.reached(() => t.is(child.exitCode, null))
  const lost = read(file)
  child.kill('SIGKILL')
  await hold.endCommands()
  await hold.release()
  t.is((await listWorkspaceIds(db)).length, 0)

  t.true((await callWith(environment, 'bootstrap', '--json')).json.made)
  const { org_id, api_key } = read(file)
  t.not(org_id, lost.org_id)
  const visitor = await serve(t, environment)
  t.is((await visitor.as(api_key).get(`/v1/orgs/${org_id}`)).status, 200)
})
