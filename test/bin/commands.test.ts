import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { callKontor, callWith } from '#test/bin/call.ts'
import { addUnreadyWorkspace, addWaitingJob } from '#test/bin/rows.ts'
import { readShares } from '#test/core/workspaces/rows.ts'
import { createMember, createOrg, createRole, createService } from '#test/support/factories.ts'
import { movingClock } from '#test/support/moving-clock.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

const fresh = shareWorld(test)

test('commands: a new account can sign in with the chosen or printed password', async (t) => {
  const w = await fresh()
  const made = await callKontor(w, 'user', 'create', '--email', 'ann@example.com', '--name', 'Ann', '--json')
  t.is(made.code, 0)
  t.like(made.json, { email: 'ann@example.com', name: 'Ann' })
  t.regex(made.json.password, /^[0-9A-Za-z]{24}$/)
  const signedIn = await w.visitor.post('/v1/auth/sign-in', { email: 'ann@example.com', password: made.json.password })
  t.is(signedIn.data.user.id, made.json.id)
  const chosen = await callKontor(w, 'user', 'create', 'bob@example.com', 'Bob', '--password', 'long enough', '--json')
  t.false('password' in chosen.json)
  t.is((await w.visitor.post('/v1/auth/sign-in', { email: 'bob@example.com', password: 'long enough' })).status, 200)
  const twice = await callKontor(w, 'user', 'create', 'BOB@example.com', 'Bob', '--json')
  t.deepEqual([twice.code, twice.json.error.code, twice.out], [1, 'KEY_TAKEN', ''])
  const short = await callKontor(w, 'user', 'create', 'eve@example.com', 'Eve', '--password', '1234567')
  t.is(short.code, 2)
  t.regex(short.err, /^password must have at least 8 characters\nUsage: kontor user create <email> <name> /)
})

test('commands: the workspaces of an owner count one by one, those made later too, until they count together again', async (t) => {
  const w = await fresh()
  const { json: owner } = await callKontor(w, 'user', 'create', 'agency@example.com', 'Agency', '--json')
  const make = async (name: string) => (await callKontor(w, 'org', 'create', name, owner.id, '--json')).json.id as string
  const ids = [await make('One'), await make('Two')]
  t.deepEqual(await readShares(w.db, owner.id), [owner.id, owner.id])
  const separate = await callKontor(w, 'user', 'share', 'Agency@example.com', 'separate', '--json')
  t.deepEqual(separate.json, { id: owner.id, email: 'agency@example.com', workspaces: 'separate', count: 2 })
  ids.push(await make('Three'))
  t.deepEqual(await readShares(w.db, owner.id), ids)
  const together = await callKontor(w, 'user', 'share', owner.id, 'together')
  t.regex(together.out, /^The workspaces of agency@example.com \(3 now\) count together\.$/m)
  t.deepEqual(await readShares(w.db, owner.id), [owner.id, owner.id, owner.id])
  t.is((await callKontor(w, 'user', 'share', owner.id, 'apart')).code, 2)
})

test('commands: an unknown command is named with those of its noun, or as JSON', async (t) => {
  for (const [words, help] of [
    [['frob'], 'bin/kontor --help lists all commands.\n'],
    [['org', 'frob'], 'Usage:\n  kontor org create '],
  ] as const) {
    const plain = await callWith({}, ...words)
    t.is(plain.code, 2)
    t.true(plain.err.startsWith(`There is no command ${words.join(' ')}\n${help}`), plain.err)
    const { code, json } = await callWith({}, ...words, 'x', '--json')
    t.deepEqual([code, json.error.code], [2, 'VALIDATION_ERROR'])
  }
})

test('commands: a new workspace is ready at once and belongs to its owner', async (t) => {
  const w = await fresh()
  const { json: nora } = await callKontor(w, 'user', 'create', 'nora@example.com', 'Nora', '--json')
  const { code, json: org } = await callKontor(w, 'org', 'create', '--name', 'Northwind', '--owner', 'Nora@example.com', '--json')
  t.is(code, 0)
  t.like(org, { name: 'Northwind', status: 'active', plan: 'paid', owner_id: nora.id })
  const { data } = await w.visitor.post('/v1/auth/sign-in', { email: 'nora@example.com', password: nora.password })
  const client = w.visitor.as(data.token)
  t.deepEqual((await client.get(`/v1/orgs/${org.id}`)).data, org)
  t.is((await client.post(`/v1/orgs/${org.id}/records/accounts`, { values: { code: '1', name: 'Cash' } })).status, 201)
  t.is((await callKontor(w, 'org', 'create', 'Free', nora.id, '--plan', 'free', '--json')).json.plan, 'free')
  const orphan = await callKontor(w, 'org', 'create', 'Nobody', 'nobody@example.com')
  t.is(orphan.code, 1)
  t.regex(orphan.err, /^Nobody has the address or id nobody@example.com/)
})

test('commands: a suspended workspace refuses every caller in every process until it is resumed', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const callers = [w.org.owner, (await createMember(w, w.org)).client, (await createService(w, w.org)).client]
  const all = callers.flatMap((client) => [client, second.as(client.token)])
  const answers = () => Promise.all(all.map(async (client) => (await client.get(w.org.path)).body.error?.code))
  t.deepEqual(new Set(await answers()), new Set([undefined]))
  t.regex((await callKontor(w, 'org', 'suspend', w.org.id)).out, /^Acme \(.*\): suspended, paid plan\n$/)
  t.deepEqual(new Set(await answers()), new Set(['ORG_SUSPENDED']))
  t.is((await w.org.owner.get(w.org.path)).status, 403)
  const again = await callKontor(w, 'org', 'suspend', w.org.id, '--json')
  t.deepEqual([again.code, again.json.error], [2, { code: 'VALIDATION_ERROR', message: 'The workspace Acme is suspended already' }])
  t.is((await w.org.owner.get('/v1/auth/me')).status, 200)
  t.is((await callKontor(w, 'org', 'resume', w.org.id, '--json')).json.status, 'active')
  t.deepEqual(new Set(await answers()), new Set([undefined]))
  for (const id of [randomUUID(), 'x']) t.is((await callKontor(w, 'org', 'suspend', id, '--json')).json.error.code, 'NOT_FOUND')
})

test('commands: a workspace that is being set up cannot be suspended, so that it does not open half set up', async (t) => {
  const w = await fresh()
  const id = randomUUID()
  await addUnreadyWorkspace(w.db, id, w.org.ownerId)
  t.is((await callKontor(w, 'org', 'suspend', id, '--json')).json.error.code, 'VALIDATION_ERROR')
  t.is((await callKontor(w, 'org', 'resume', id, '--json')).json.error.code, 'VALIDATION_ERROR')
})

test('commands: the plan of a workspace applies from the next request on', async (t) => {
  const w = await fresh()
  t.is((await w.org.owner.get(w.org.path)).data.plan, 'paid')
  t.is((await callKontor(w, 'org', 'plan', w.org.id, 'free')).code, 0)
  t.is((await w.org.owner.get(w.org.path)).data.plan, 'free')
  const wrong = await callKontor(w, 'org', 'plan', w.org.id, 'gold')
  t.is(wrong.code, 2)
  t.regex(wrong.err, /^plan must be one of free, paid/)
})

test('commands: a key is created for an account of its own that may do everything, and revoked by its id or by itself', async (t) => {
  const w = await fresh()
  const { json: first } = await callKontor(w, 'key', 'create', w.org.id, '--json')
  const { json: second } = await callKontor(w, 'key', 'create', '--org', w.org.id, '--account', first.service_account_id, '--json')
  const { json: third } = await callKontor(w, 'key', 'create', w.org.id, '--name', 'Third', '--json')
  t.is(second.service_account_id, first.service_account_id)
  t.not(third.service_account_id, first.service_account_id)
  const roles = await w.org.owner.get(`${w.org.path}/iam/groups`)
  t.deepEqual(
    roles.data.map(({ name, policy }: { name: string; policy: unknown }) => ({ name, policy })),
    [{ name: 'Admin', policy: [{ effect: 'allow', actions: ['*'], resources: '*' }] }],
    'the role is created once',
  )
  const works = (key: string) => w.visitor.as(key).get(`${w.org.path}/iam/groups`)
  for (const { key } of [first, second, third]) t.is((await works(key)).status, 200)
  t.deepEqual((await callKontor(w, 'key', 'revoke', first.id, '--json')).json, { id: first.id, revoked: true })
  t.is((await callKontor(w, 'key', 'revoke', second.key)).code, 0)
  for (const { key } of [first, second]) t.is((await works(key)).status, 401)
  t.is((await works(third.key)).status, 200)
  for (const gone of [first.id, second.key, 'x']) t.is((await callKontor(w, 'key', 'revoke', gone)).code, 1)
})

test('commands: a command uses the time of the database, whatever its machine’s clock says', async (t) => {
  const w = await fresh()
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const { databaseUrl, dataDir } = w.config
  const env = { ...process.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...movingClock([2]) }
  const args = ['bin/kontor.ts', 'key', 'create', w.org.id, '--expires-at', inAnHour, '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  t.is((await w.visitor.as(JSON.parse(stdout).key).get(w.org.path)).status, 200)
})

test('commands: migrate prepares an empty database, and changes nothing the second time', async (t) => {
  const { name, url } = await emptyDatabase(`empty_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  const unready = await callWith({ DATABASE_URL: url }, 'jobs', 'list', '--json')
  t.is(unready.code, 1)
  const results = await Promise.all([1, 2].map(() => callWith({ DATABASE_URL: url }, 'migrate', '--json')))
  t.deepEqual(
    results.map(({ code, json }) => [code, json.migrated]),
    [
      [0, true],
      [0, true],
    ],
  )
  // One of the two applied them all.
  const applied = results.map(({ json }) => json.applied)
  t.true(applied.some((names) => names.length === 0) && applied.some((names) => names[0] === '0001-platform.ts'))
  const { code, json } = await callWith({ DATABASE_URL: url }, 'jobs', 'list', '--json')
  t.is(code, 0)
  t.deepEqual(json, { jobs: [], total: 0 })
})

test('commands: jobs list says when no job matches, and lists a waiting one', async (t) => {
  const { name, url } = await emptyDatabase(`empty_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  await callWith({ DATABASE_URL: url }, 'migrate')
  const list = async () => (await callWith({ DATABASE_URL: url }, 'jobs', 'list')).out
  t.is(await list(), 'No job matches.\n')
  await addWaitingJob(url, 'workspaces.report-left-out-roles')
  t.regex(await list(), / +workspaces\.report-left-out-roles +waiting +\(no workspace\) .*no worker of pool data\n$/)
})

test('commands: status lists what an earlier release let grow beyond a limit', async (t) => {
  const w = await fresh()
  const org = await createOrg(w, 'Large')
  const before = await callKontor(w, 'status', '--json')
  t.deepEqual([before.code, before.json.above_limits], [0, []])
  t.regex((await callKontor(w, 'status')).out, /^Larger than a limit allows, as an earlier release left it: none\n$/m)
  const policy = [{ effect: 'allow', actions: ['types:read'], condition: { 'resource.id': { eq: 'x'.repeat(300 * 1_024) } } }]
  const robot = await createService(w, org, policy, 'Robot')
  const large = await createRole(w, org, policy, true)
  const { json } = await callKontor(w, 'status', '--json')
  const lines: string[] = json.above_limits
  t.is(lines.length, 4, lines.join())
  t.true(lines.includes(`workspace ${org.id}: role ${large} (role ${large}) has 301 KB of 64 KB`), lines.join())
  t.true(lines.includes(`workspace ${org.id}: ${robot.id} (Robot) has 1 of 50 roles and 301 KB of 256 KB of policies`), lines.join())
  t.true(lines.includes(`workspace ${org.id}: visitors have 1 of 50 roles and 301 KB of 256 KB of policies`), lines.join())
})

test('commands: an invalid database address is named', async (t) => {
  const { code, err } = await callWith({ DATABASE_URL: 'foo' }, 'migrate')
  t.deepEqual([code, err], [1, 'DATABASE_URL must be an address that starts with postgres:// or postgresql://\n'])
})

test('commands: commands without settings use the database of the npm start on the same data folder', async (t) => {
  const w = await fresh()
  const dataDir = await mkdtemp(join(tmpdir(), 'kontor-test-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  t.is((await callWith({ DATA_DIR: dataDir }, 'org', 'plan', w.org.id, 'free')).code, 2)
  await writeFile(join(dataDir, 'database-url'), `${w.config.databaseUrl}\n`)
  t.is((await callWith({ DATA_DIR: dataDir }, 'org', 'plan', w.org.id, 'free', '--json')).json.plan, 'free')
  t.is(
    (await callWith({ DATA_DIR: dataDir, DATABASE_URL: 'postgres://127.0.0.1:1/none' }, 'jobs', 'list')).code,
    1,
    'the setting takes precedence',
  )
})

test('commands: wrong usage prints the right usage', async (t) => {
  const none = { DATABASE_URL: '' }
  for (const args of [['org'], ['org', 'nonsense']]) {
    const { code, out, err } = await callWith(none, ...args)
    t.deepEqual([code, out], [2, ''])
    t.regex(err, /kontor org create <name> <owner> \[--plan <plan>\]/)
  }
  t.is((await callWith(none, 'org', 'suspend')).err.split('\n')[0], 'org is required')
  t.regex((await callWith(none, 'org', 'suspend', 'a', 'b')).err, /^unexpected argument: b\n/)
  t.regex((await callWith(none, 'org', 'suspend', '--nmae', 'b')).err, /^Unknown option '--nmae'/)
  const help = await callWith(none, 'org', 'create', '--help')
  t.deepEqual([help.code, help.err], [0, ''])
  t.regex(help.out, /--owner {2}address or id of the person who owns it/)
  for (const args of [[], ['--help']]) t.is((await callWith(none, ...args)).code, 0)
  const nowhere = await callWith({ DATA_DIR: '/nowhere' }, 'jobs', 'list', '--json')
  t.is(nowhere.code, 2)
  t.regex(nowhere.json.error.message, /^DATABASE_URL must name the database/)
})
