import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { countCredentials } from '#test/bin/rows.ts'
import { createAccount } from '#test/support/account.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })
const script = join(import.meta.dirname, '..', '..', 'bin', 'kontor')

/** The console's output for these lines, without prompts. */
async function say(w: World, args: readonly string[], lines: readonly string[]): Promise<string[]> {
  const child = spawn(script, ['console', ...args], {
    env: {
      DATABASE_URL: w.config.databaseUrl,
      SECRET_KEY: w.config.secretKey.toString('hex'),
      DATA_DIR: w.config.dataDir,
      LOG_LEVEL: 'fatal',
      PATH: process.env.PATH,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`${code}: ${said}`)
  return said
    .split('\n')
    .map((line) => line.replace(/^(?:kontor> )+/, ''))
    .filter((line) => line !== '')
}

test('console: domain functions work in a workspace as any actor, and the API answers the same actor', async (t) => {
  const w = await start()
  const { org } = w
  const reader = await createMember(w, org, [{ effect: 'allow', actions: ['records:read'] }], 'Rita Reader')
  const said = await say(
    w,
    [],
    [
      `await org('${org.id}'), 'in ' + scope.workspace.name`,
      `(await records.createRecord(scope, await types.requireRecordType(scope, 'locations'), { name: 'Here' })).values.name`,
      `(await get('records/locations')).data.records[0].values.name + ' by the API'`,
      `await as('${reader.id}@example.com')`,
      `(await post('records/locations', { values: { name: 'There' } })).status`,
      `await records.createRecord(scope, await types.requireRecordType(scope, 'locations'), { name: 'There' }).catch(({ code }) => code)`,
      `await as(null)`,
      `(await get('records/locations')).error.code`,
      `await as('system')`,
      `(await sql\`select name from workspaces where id = \${scope.workspace.id}\`)[0].name + ' by SQL'`,
      `(await get('/healthz')).status`,
    ],
  )
  const expected = [
    "'in Acme'",
    "'Here'",
    "'Here by the API'",
    "'Rita Reader (user) in Acme'",
    '403',
    "'FORBIDDEN'",
    "'visitor (anonymous) in Acme'",
    "'UNAUTHORIZED'",
    "'Kontor (system) in Acme'",
    "'Acme by SQL'",
    '200',
  ]
  t.deepEqual(said.slice(1), expected)
  const entry = (await org.owner.get(`${org.path}/audit?action=record.created`)).data.entries[0]
  t.is(entry.actor_id, org.ownerId)
  t.deepEqual(entry.cause, { kind: 'system', id: null })
})

test('console: a service account is called by its name, and no session or key is left behind', async (t) => {
  const w = await start()
  await createService(w, w.org, [{ effect: 'allow', actions: ['types:read'] }], 'Robot')
  const { email } = await createAccount(w)
  const count = () => countCredentials(w.db, w.org.id)
  const before = await count()
  const said = await say(
    w,
    [w.org.id, 'Robot'],
    ['scope.actor.type', `(await get('types')).status`, `(await get('audit')).status`, `await as('${email}').catch(({ code }) => code)`],
  )
  t.deepEqual(said.slice(1), ["'service'", '200', '403', "'NOT_FOUND'"])
  t.is(await count(), before)
})

test('console: the next call sees changes of others', async (t) => {
  const w = await start()
  const { org } = w
  const said = await say(
    w,
    [org.id],
    [
      `(await types.requireRecordType(scope, 'locations')).fields.length`,
      `(await post('fields', { entity_type: 'locations', key: 'more', label: 'More', type: 'string' })).status`,
      `(await types.requireRecordType(scope, 'locations')).fields.length`,
    ],
  )
  t.deepEqual(said.slice(1), ['3', '201', '4'])
})

test('console: lines after a failing one are evaluated', async (t) => {
  const w = await start()
  const lines = [
    `throw Error('thrown')`,
    'nope()',
    'no grammar',
    `await Promise.reject(Error('rejected'))`,
    `await org('Nowhere')`,
    '1 + 1',
  ]
  const said = await say(w, [], lines)
  const failures = said.filter((line) => line.startsWith('Uncaught') || line.startsWith('SyntaxError'))
  t.is(failures.length, 5, said.join('\n'))
  t.is(said.at(-1), '2')
})

test('console: missing settings and unknown workspaces are reported', async (t) => {
  const w = await start()
  const child = spawn(script, ['console'], {
    env: { DATA_DIR: w.config.dataDir, PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  t.is(code, 2)
  t.regex(said, /^DATABASE_URL must name the database/)
  t.deepEqual(
    (await say(w, [], ['.manual', `await org('Nowhere').catch(({ message }) => message)`])).filter((line) =>
      /^ {2}await org|There/.test(line),
    ),
    [`  await org('Demo')                          enter a workspace by its name or id, as its owner`, "'There is no workspace Nowhere'"],
  )
})
