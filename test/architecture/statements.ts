import { eachFile, isProduct, type Rule, together, within } from '#test/architecture/rule.ts'

/** Recognizes statements: the functions of shared/platform/db that make them, or SQL at the beginning of a text. */
const makers =
  /^import \{[^}]*\b(?:sql|buildStatement|prepareStatement|slot|builder)\b[^}]*\} from '#shared\/platform\/db\/statements\/(?:statement|builder)\.ts'/m
const words =
  /['"`]\s*(?:select\s+[\w(*$]|insert into\s|delete from\s|update \w+\s+set\s|with \w+ as |(?:create|alter|drop) (?:table|index|schema|unique))/

/** Places for SQL: the database's own layers, a domain's stores, and migrations. */
const places = [/^shared\/platform\/(?:db|jobs)\//, /^shared\/\w+\/(?:.*[/-])?(?:store|statements)(?:\.ts|\/)/, /^migrations\//]

/**
 * Places that make parts of statements from values: conditions of policies, filters and orders, columns of field types, kinds of indexes.
 */
const partMakers = [
  'shared/core/policy',
  'shared/core/records/query/filter.ts',
  'shared/core/records/query/query.ts',
  'shared/core/records/query/statement-cache.ts',
  'shared/core/types/field-kinds',
  'shared/core/types/indexes/index-kinds.ts',
]

const inStores = eachFile(
  "SQL is in a domain's store",
  isProduct,
  (one) => {
    const holds = makers.test(one.text) || words.test(one.text)
    const isPlace = places.some((place) => place.test(one.path)) || within(one.path, partMakers)
    return holds && !isPlace ? ['move the statement into store.ts'] : []
  },
  {
    'shared/core/people/sessions.ts': `import { sql } from '#shared/platform/db/statements/statement.ts'`,
    'shared/core/records/create/create-record.ts': `import { builder } from '#shared/platform/db/statements/builder.ts'`,
    'shared/features/forms/submit-form.ts': `import { sql } from '#shared/platform/db/statements/statement.ts'`,
    'api/core/records/routes.ts': 'await scope.db.query({ text: `\n  select id from records` })',
  },
)

const comments = /\/\*.*?\*\//gs

/** PostgreSQL refuses a second text under the name of a prepared statement, but only on a connection that has seen the first. */
const onceNamed = together(
  'no two prepared statements have the same name',
  isProduct,
  (sources) => {
    const seen = new Map<string, string>()
    return sources.flatMap(({ path, text }) =>
      [...text.replaceAll(comments, '').matchAll(/\bsql\(\s*'([^']+)'|\bname: '(\w+)', text:/g)].flatMap(([, made, written]) => {
        const name = made ?? written ?? ''
        const first = seen.get(name)
        seen.set(name, first ?? path)
        return first === undefined ? [] : [`${path}: ${name} is also the name of a statement in ${first}`]
      }),
    )
  },
  {
    'shared/core/roles/a.ts': `const find = sql('find', 'select 1')`,
    'shared/core/people/b.ts': `const find = sql(\n  'find', 'select 2')`,
  },
)

/** Functions whose results depend on the session's time zone or the present time, and which therefore are not immutable. */
const unsteady = /\binterval\b|\bat time zone\b|\b(?:now|age|date_trunc|date_part|extract|to_char|to_timestamp)\((?!\))|\bcurrent_\w+/

/** A distributed database refuses an update of a sharded table that passes a column to a function that is not immutable. */
const immutableUpdates = eachFile(
  'an update of a record table passes its columns only to immutable functions',
  ({ path }) => /^shared\/core\/(?:types|records)\//.test(path),
  ({ text }) => {
    const updates = [...text.matchAll(/`[^`]*\bupdate \?[^`]*`/g)].filter(([update]) => unsteady.test(update))
    return updates.map(([update]) => `work the value out before the statement: ${update.slice(0, 60)}`)
  },
  { 'shared/core/records/a.ts': "const touch = `update ? set updated_at = updated_at + interval '1 microsecond'`" },
)

const migrationNames = together(
  'migrations are numbered without gaps: NNNN-what-it-does.ts',
  ({ path }) => path.startsWith('migrations/'),
  (sources) => {
    const names = sources.map(({ path }) => path.slice('migrations/'.length))
    const right = (name: string, index: number) =>
      new RegExp(`^${String(index + 1).padStart(4, '0')}-[a-z0-9]+(-[a-z0-9]+)*\\.ts$`).test(name)
    return names.sort().flatMap((name, index) => (right(name, index) ? [] : [`migrations/${name}: must be number ${index + 1}`]))
  },
  { 'migrations/0001-people.ts': '', 'migrations/0003-types.ts': '' },
)

/** Places that compare times with the clock that they are given, so that all processes and tests can share one. */
const ownedTime = ['shared/platform/due', 'workers/platform/due', 'shared/features/calendar']
const serverTime = /(?<![.\w])(?:now|clock_timestamp|transaction_timestamp|statement_timestamp)\(\)|\bcurrent_(?:timestamp|date|time)\b/i
const givenTime = eachFile(
  "SQL uses the time that it is given, not the server's",
  ({ path }) => within(path, ownedTime) || /\/maintenance(?:-store)?\.ts$/.test(path),
  ({ text }) => (serverTime.test(text.replaceAll(comments, '')) ? ['compare with a parameter that holds scope.now()'] : []),
  { 'shared/platform/due/store.ts': `const find = sql('find_due', 'select id from due_work where at <= now()')` },
)

export const statementRules: readonly Rule[] = [immutableUpdates, inStores, onceNamed, migrationNames, givenTime]

/** Every path that these rules name. */
export const statementPaths: readonly string[] = [...partMakers, ...ownedTime]
