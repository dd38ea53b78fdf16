import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { exceptions, oneLine } from '#test/support/watch/exceptions.ts'
import { takeSent } from '#test/support/watch/sent.ts'
import { complaintOf, sharedTables, statementsWithoutWorkspace } from '#test/support/watch/watch.ts'

const fresh = shareWorld(test)

const held = [
  'select name from roles where workspace_id = $1 and id = $2',
  'select name from roles where id = $2 and workspace_id = any($1::uuid[])',
  'update roles set name = $3 where workspace_id = $1 and id = $2',
  'delete from modules where workspace_id = $1',
  `insert into modules (workspace_id, slug, name) values ($1, 'a', 'A')`,
  'select role.name from role_members as held join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id where held.workspace_id = $1',
  'select name from workspaces where id = $1',
  'with gone as (delete from members where workspace_id = $1 returning workspace_id) delete from invitations where workspace_id in (select workspace_id from gone)',
  'select (select count(*) from members where workspace_id = workspace.id) from workspaces as workspace where id = $1',
  'select id from users where email = $1',
  'select from modules where false',
]

for (const text of held) {
  test(`watch: a statement stays within its workspace: ${text}`, async (t) => {
    const { db } = await fresh()
    t.is(await complaintOf(db, await sharedTables(db), { name: 'a', text }), undefined)
  })
}

const reaching: Readonly<Record<string, readonly string[]>> = {
  'select name from roles where id = $1': ['roles'],
  'select name from roles where workspace_id = $1 or id = $2': ['roles'],
  'select name from roles where workspace_id <> $1': ['roles'],
  'update roles set name = $2 where id = $1': ['roles'],
  'delete from modules where slug = $1': ['modules'],
  'insert into modules (workspace_id, slug, name) select $1::uuid, slug, name from modules': ['modules'],
  'select role.name from role_members as held join roles as role on role.id = held.role_id where held.workspace_id = $1': ['roles'],
  'select role.name from role_members as held join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id': [
    'role_members',
    'roles',
  ],
  'select name from workspaces where name = $1': ['workspaces'],
  'with gone as (delete from members where workspace_id = $1 returning user_id) delete from invitations where invited_by in (select user_id from gone)':
    ['invitations'],
  'select id from audit_entries order by id desc limit 1': ['audit_entries'],
}

const ofTwoWorkspaces = `select from ws_${'0'.repeat(32)}.invoices, ws_${'1'.repeat(32)}.invoices`
const ownOfTest = 'select name from roles where name = $1'
const careless = { name: 'careless', text: 'select name from roles where id = $1' }

for (const [text, tables] of Object.entries(reaching)) {
  test(`watch: a statement reads past its workspace: ${text}`, async (t) => {
    const { db } = await fresh()
    const complaint = await complaintOf(db, await sharedTables(db), { name: 'a', text })
    t.is(complaint, `a reads ${tables.join()} without its workspace: ${text}`)
  })
}

test('watch: a statement reads the tables of two workspaces', async (t) => {
  const { db } = await fresh()
  const text = ofTwoWorkspaces
  t.regex((await complaintOf(db, await sharedTables(db), { name: 'a', text })) ?? '', /several workspaces/)
})

test('watch: statements of Kontor are recorded once for all workspaces, and statements of a test are not', async (t) => {
  const w = await fresh()
  t.deepEqual(await statementsWithoutWorkspace(w.db), [])
  await w.db.query(ownOfTest, ['own'])
  await w.org.owner.get(`${w.org.path}/members`)
  await w.org.owner.get(`${w.org.path}/records/invoices`)
  const seen = takeSent().map(({ text }) => text)
  t.true(seen.some((text) => text.includes('from members')))
  t.true(seen.some((text) => text.includes('ws_')))
  t.false(seen.some((text) => text.includes('from roles where name')))
  await w.api.services.database.query({ ...careless, values: [w.org.id] })
  t.regex((await statementsWithoutWorkspace(w.db)).join(), /^careless reads roles without its workspace/)
})

test('watch: every exception belongs to an existing statement', (t) => {
  const root = join(import.meta.dirname, '..', '..', '..')
  const files = ['shared', 'workers', 'bin'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(root, folder, file)),
  )
  const source = oneLine(files.flatMap((file) => (file.endsWith('.ts') ? readFileSync(file, 'utf8') : [])).join('\n'))
  // The names of some statements end with a column, which their declaration is given.
  const declared = (statement: string) => statement.replace(/^(secrets\.\w+) (\w+)\.(\w+)$/, '$1 $')
  const missing = exceptions.flatMap(({ statements }) => statements).filter((statement) => !source.includes(declared(statement)))
  t.deepEqual(missing, [])
})
