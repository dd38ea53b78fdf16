import { eachFile, isProduct, type Rule, together, within } from '#test/architecture/rule.ts'

/** Recognizes statements: the functions of shared/platform/db that make them, or SQL at the beginning of a text. */
const makers =
  /^import \{[^}]*\b(?:statement|composeStatement|buildStatement|prepareStatement|slot|builder)\b[^}]*\} from '#shared\/platform\/db\/statements\/(?:statement|builder)\.ts'/m
const words =
  /['"`]\s*(?:select\s+[\w(*$]|insert into\s|delete from\s|update \w+\s+set\s|with \w+ as |(?:create|alter|drop) (?:table|index|schema|unique))/

/** Places for SQL: the database's own layers, a domain's stores, and migrations. */
const places = [/^shared\/platform\/(?:db|jobs)\//, /^shared\/\w+\/(?:.*[/-])?(?:store|statements)(?:\.ts|\/)/, /^migrations\//]

/**
 * Places that make parts of statements from values: conditions of policies, filters and orders, columns of field types, kinds of indexes.
 */
const partMakers = [
  'shared/core/policy',
  'shared/core/records/query/filter-conditions.ts',
  'shared/core/records/query/query.ts',
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
    'shared/core/people/sessions.ts': `import { statement } from '#shared/platform/db/statements/statement.ts'`,
    'shared/core/records/create/create-record.ts': `import { builder } from '#shared/platform/db/statements/builder.ts'`,
    'shared/features/forms/submit-form.ts': `import { statement } from '#shared/platform/db/statements/statement.ts'`,
    'api/core/records/routes.ts': 'await scope.db.query({ text: `\n  select id from records` })',
  },
)

const comments = /\/\*.*?\*\//gs

/** A declaration of a statement: the constant, and the two parts of its name. */
const declarations = /\bconst (\w+) = (?:statement|creationPage|accessStatement)\(\s*'([^']*?)\.?(\w*)'/g

/** The folder of a statement's domain: the one below its floor. */
const domainOf = (path: string): string => path.split('/')[2] ?? ''

const namedByConstant = eachFile(
  "a statement's name is its domain and its constant",
  isProduct,
  ({ path, text }) =>
    [...text.replaceAll(comments, '').matchAll(declarations)].flatMap(([, constant = '', domain, name]) =>
      domain === domainOf(path) && name === constant ? [] : [`name the statement '${domainOf(path)}.${constant}'`],
    ),
  {
    'shared/core/roles/store.ts': `const findRole = statement('roles.find', 'select 1', {})`,
    'shared/core/people/store.ts': `const findPerson = statement(\n  'roles.findPerson', 'select 1', {})`,
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

/** The migrations that every database has applied. A process refuses a database that does not begin with the first one. */
const squashed = [
  ...['0001-platform.ts', '0002-platform-jobs.ts', '0003-core.ts', '0004-drive.ts', '0005-functions.ts', '0006-messages.ts'],
  ...['0007-queues.ts', '0008-accounting.ts', '0009-calendar.ts', '0010-payments.ts', '0011-forms.ts', '0012-sites.ts', '0013-flows.ts'],
]

const neverSquashed = together(
  'migrations are never squashed again',
  ({ path }) => path.startsWith('migrations/'),
  (sources) => {
    const names = new Set(sources.map(({ path }) => path.slice('migrations/'.length)))
    return squashed.filter((name) => !names.has(name)).map((name) => `migrations/${name}: must stay; add a migration with the next number`)
  },
  { 'migrations/0001-everything.ts': '' },
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
  { 'shared/platform/due/store.ts': `const find = statement('due.find', 'select id from due_work where at <= now()', {})` },
)

/** SQL that computes a local time by the database's zone data, which may be of another release than that of the process. */
const zonedTime = /\bat time zone (?!'UTC')|(?<![\w.])timezone\(|\bdate_trunc\([^()]*,[^()]*,/i
const processZones = eachFile(
  'local days, months and times are computed by the process, which has one release of the zone data',
  isProduct,
  ({ text }) =>
    zonedTime.test(text.replaceAll(comments, '')) ? ["pass instants, days or zoneOffsets; SQL may use at time zone 'UTC' only"] : [],
  { 'shared/core/records/store.ts': `const day = statement('records.day', 'select (at at time zone $zone)::date', {})` },
)

/** The folder whose statements follow the version of pg-boss's tables; migrations 0002 and 0026 made functions that write them. */
const queueTables = 'shared/platform/jobs/pgboss'
const boundTables = eachFile(
  "pg-boss's tables are named by one folder",
  ({ path }) => within(path, ['api', 'workers', 'shared', 'bin', 'scripts', 'migrations']) && !/^migrations\/00(?:02|26)-/.test(path),
  ({ path, text }) =>
    /\bpgboss\./.test(text.replaceAll(comments, '')) && !within(path, [queueTables]) ? [`move the statement into ${queueTables}`] : [],
  {
    'shared/features/flows/runs/store.ts': "const find = statement('flows.find', `select id from pgboss.job`, {})",
    'bin/a.ts': "'pgboss.queue'",
  },
)

export const statementRules: readonly Rule[] = [
  ...[immutableUpdates, inStores, namedByConstant, migrationNames, neverSquashed, givenTime, processZones, boundTables],
]

/** Every path that these rules name. */
export const statementPaths: readonly string[] = [...partMakers, ...ownedTime, queueTables]
