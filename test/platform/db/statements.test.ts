import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { bytes, instant, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { composeStatement, type DeclaredStatement, declaredStatements, statement } from '#shared/platform/db/statements/statement.ts'
import { contradictions } from '#test/support/declared-statements.ts'
import { statementDescriber } from '#test/support/describe-statement.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { takeContradictions } from '#test/support/watch/rows.ts'

const start = shareWorld(test)
const root = join(import.meta.dirname, '..', '..', '..')

/** Statements of modules that this test declares itself. */
const own = 'test.'

test('statements: PostgreSQL describes each as it is declared', async (t) => {
  const files = globSync('{shared,api,workers,bin}/**/*.ts', { cwd: root }).filter((file) =>
    /\b(?:statement|accessStatement|creationPage)\(/.test(readFileSync(join(root, file), 'utf8')),
  )
  for (const file of files) await import(join(root, file))
  const all = declaredStatements().filter(({ name }) => !name.startsWith(own))
  t.log(`${all.length} statements of ${files.length} files`)
  t.true(all.length > 0)
  const { db } = await start()
  const describe = await statementDescriber(db)
  const found: string[] = []
  for (const one of all) {
    try {
      found.push(...contradictions(one, await describe(one.text)))
    } catch (error) {
      found.push(`${one.name} cannot be prepared: ${(error as Error).message}`)
    }
  }
  t.deepEqual(found, [])
})

const declaration: DeclaredStatement = {
  name: 'keys',
  text: 'select id, name, expires_at from access_keys where workspace_id = $1',
  params: { workspaceId: uuid },
  columns: { id: uuid.notNull, name: text.notNull, expires_at: instant },
}

const cases: readonly (readonly [what: string, wrong: Partial<DeclaredStatement>, message: string])[] = [
  ['a wrong name of a column', { columns: { id: uuid, title: text, expires_at: instant } }, 'keys: column 2 is name, declared as title'],
  [
    'a wrong type of a column',
    { columns: { id: uuid, name: uuid, expires_at: instant } },
    'keys: the column name has the type text, declared as uuid',
  ],
  ['a wrong type of a parameter', { params: { workspaceId: text } }, 'keys: the parameter workspaceId has the type uuid, declared as text'],
  ['a column that is not declared', { columns: { id: uuid, name: text } }, 'keys: the columns expires_at are not declared'],
  [
    'a nullable column called notNull',
    { columns: { id: uuid, name: text, expires_at: instant.notNull } },
    'keys: the column expires_at may be null, declared as notNull',
  ],
]

test('statements: the comparison finds each wrong declaration', async (t) => {
  const { db } = await start()
  const describe = await statementDescriber(db)
  t.deepEqual(contradictions(declaration, await describe(declaration.text)), [])
  for (const [what, wrong, message] of cases) {
    t.deepEqual(contradictions({ ...declaration, ...wrong }, await describe(declaration.text)), [message], what)
  }
})

test('statements: a row that is read shows that a column of an outer join is called notNull', async (t) => {
  const { api, org } = await start()
  const columns = { id: uuid.notNull, secret_hash: bytes.notNull }
  const find = composeStatement(
    `select workspace.id, key.secret_hash from workspaces as workspace
     left join access_keys as key on key.workspace_id = workspace.id and key.name = 'none' where workspace.id = $workspaceId`,
    { params: { workspaceId: uuid }, columns },
    { workspaceId: org.id },
  )
  takeContradictions()
  await api.services.database.query(find)
  t.deepEqual(takeContradictions(), [`${find.text}: secret_hash is null, declared as notNull`])
})

test('statements: the text and the declaration name the same parameters, and a name is used once', (t) => {
  const params = { id: uuid }
  t.throws(() => statement(`${own}unknown`, 'select from roles where id = $roleId', { params }), {
    message: /parameter \$roleId, which is not/,
  })
  t.throws(() => statement(`${own}unused`, 'select from roles', { params }), { message: /does not name the parameters id/ })
  t.throws(() => statement(`${own}positional`, 'select from roles where id = $1', { params }), { message: /parameter \$1, which is not/ })
  statement(`${own}once`, 'select from roles where id = $id', { params })
  t.throws(() => statement(`${own}once`, 'select from roles where id = $id', { params }), {
    message: `Two statements have the name ${own}once`,
  })
})

test('statements: values follow their names, whatever the order of the text', (t) => {
  const find = statement(`${own}order`, 'select $b::text as b, $a::text as a, $b::text as c', { params: { a: text, b: text } })
  t.like(find({ b: '2', a: '1' }), { text: 'select $2::text as b, $1::text as a, $2::text as c', values: ['1', '2'] })
  const composed = composeStatement('select $b::text', { params: { a: text, b: text } }, { b: '2' })
  t.like(composed, { text: 'select $1::text', values: ['2'] })
  t.is(selectList({ id: uuid, name: text }, 'role'), 'role.id, role.name')
})
