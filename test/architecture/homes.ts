import { eachFile, isAny, isProduct, type Rule, within } from '#test/architecture/rule.ts'

/**
 * The only folders and files of api, workers and shared that may import each library. A new library needs a row here; a library that is
 * imported everywhere can never be replaced.
 */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-s3': ['shared/platform/blobs'],
  '@fastify/busboy': ['api/http/request/multipart.ts'],
  '@koa/router': ['api'],
  acorn: ['workers/features/functions'],
  ajv: ['shared/platform/kernel/schema.ts'],
  'ajv-formats': ['shared/platform/kernel/schema.ts'],
  'content-disposition': ['api/http'],
  'cron-parser': ['shared/features/flows'],
  'node-cron': ['shared/features/flows'],
  'csv-parse': ['shared/core/records/csv'],
  'csv-stringify': ['shared/core/records/csv'],
  'decimal.js': ['shared/platform/kernel/values/decimal.ts'],
  eta: ['api/pages'],
  'file-type': ['shared/features/drive', 'shared/platform/blobs'],
  'ical-generator': ['shared/features/calendar', 'workers/features/calendar'],
  'ical.js': ['shared/features/calendar', 'workers/features/calendar'],
  'ipaddr.js': ['api/access/client-address.ts', 'shared/platform/egress'],
  'isolated-vm': ['workers/features/functions'],
  knex: ['shared/platform/db'],
  koa: ['api'],
  'markdown-it': ['api/pages'],
  'openapi-typescript': ['bin/typed-client'],
  parse5: ['shared/features/messages/templates/parse-html.ts'],
  entities: ['shared/features/messages/templates/render.ts'],
  'mime-types': ['api', 'shared/features/drive'],
  nodemailer: ['shared/platform/mail', 'workers/platform/mail'],
  pg: ['shared/platform/db'],
  'pg-boss': ['shared/platform/jobs', 'workers/platform/jobs/job-loop.ts', 'workers/core/scope/attempt.ts'],
  pino: ['shared/platform/kernel/log.ts'],
  'pino-pretty': ['shared/platform/kernel/log.ts'],
  'prom-client': [
    ...['api/http/metrics.ts', 'workers/metrics.ts', 'shared/platform/kernel/metrics.ts', 'shared/platform/kernel/process/part-metrics.ts'],
    ...['shared/platform/db/health.ts', 'shared/platform/db/clock.ts'],
    ...['shared/platform/db/pool/connection-metrics.ts', 'shared/platform/blobs/store-metrics.ts', 'shared/platform/jobs/metrics.ts'],
    ...[
      'shared/platform/events/metrics.ts',
      'shared/platform/mail/metrics.ts',
      'shared/features/flows/metrics.ts',
      'shared/features/queues/metrics.ts',
    ],
    ...['shared/features/accounting/metrics.ts', 'shared/features/calendar/zones/metrics.ts', 'api/features/payments/metrics.ts'],
    'api/core/events/metrics.ts',
    'shared/features/webhooks/metrics.ts',
  ],
  re2js: ['shared/platform/kernel/values/pattern.ts'],
  rrule: ['shared/features/calendar'],
  'swagger-ui-dist': ['api/pages'],
  'temporal-polyfill': ['shared'],
  typebox: ['shared/platform/kernel/schema.ts'],
  typescript: ['bin/typed-client'],
  undici: ['shared/platform/egress'],
  validator: ['shared/platform/kernel/values/email.ts'],
}

/** Built-in modules that only some places may import. */
const builtIns: Readonly<Record<string, readonly string[]>> = {
  'node:child_process': ['workers/features/functions'],
  'node:cluster': [],
  // Input of callers reaches the disk only through the drive's store and stored mail.
  'node:fs': [
    'api/pages',
    'shared/platform/db/migrate.ts',
    'shared/platform/kernel/process/private-files.ts',
    'shared/platform/blobs',
    'shared/platform/mail',
    'workers/features/functions',
    'workers/platform/mail',
  ],
  'node:vm': [],
  'node:worker_threads': [],
}

const atHome = eachFile(
  'each library is imported only in its places',
  isProduct,
  (one) =>
    one.packages.flatMap((name) => {
      const places = name.startsWith('node:') ? builtIns[name] : (homes[name] ?? [])
      if (!places || within(one.path, places)) return []
      return [`${name} is at home in ${places.join(', ') || 'no place that is listed'}`]
    }),
  {
    'shared/core/records/a.ts': `import Koa from 'koa'`,
    'api/http/b.ts': `import { thing } from 'never-heard-of'`,
    'api/http/c.ts': `import { spawn } from 'node:child_process'`,
    'api/http/d.ts': `import { writeFile } from 'node:fs/promises'`,
  },
)

/** Libraries of package.json without a row here, and rows without such a library. */
export const homeless = (dependencies: readonly string[]): string[] => [
  ...dependencies.filter((name) => !Object.hasOwn(homes, name)).map((name) => `${name} has no home`),
  ...Object.keys(homes)
    .filter((name) => !dependencies.includes(name))
    .map((name) => `${name} is no dependency`),
]

/** The function runner sets its process's time zone; every other setting is read once, in one place. */
const environment = eachFile(
  'the environment is read in shared/platform/kernel/config.ts',
  isProduct,
  (one) =>
    /process\.env\b/.test(one.text) &&
    !within(one.path, ['shared/platform/kernel/config.ts', 'workers/features/functions/sandbox/runner/program.ts'])
      ? ['take the value from the configuration']
      : [],
  { 'api/http/a.ts': 'const port = process.env.PORT' },
)

const migrations = eachFile(
  'migrations import only types of knex',
  ({ path }) => path.startsWith('migrations/'),
  ({ text }) => (/^import (?!type )/m.test(text) ? ['import types only'] : []),
  { 'migrations/0001-a.ts': `import knex from 'knex'` },
)

const access = eachFile(
  'permissions are checked by shared/core/scope/access.ts',
  isProduct,
  (one) =>
    /\.permits(?:Somewhere)?\(/.test(one.text) && !within(one.path, ['shared/core/policy', 'shared/core/scope/access.ts'])
      ? ['ask permits or requirePermission']
      : [],
  { 'api/http/a.ts': `if (actor.policy.permits('types:read') === 'never') throw problem('FORBIDDEN')` },
)

const waysOut = eachFile(
  'dialers are made by shared/platform/egress/egress.ts',
  isProduct,
  (one) =>
    /\b(?:restrictedDialer|operatorDialer)\b/.test(one.text) && !within(one.path, ['shared/platform/egress'])
      ? ['take scope.egress, which calls nobody while the database is a restored copy']
      : [],
  { 'workers/features/calendar/a.ts': `import { operatorDialer } from '#shared/platform/egress/dialer.ts'` },
)

const planCaps = eachFile(
  'caps of a plan are read and refused by shared/core/scope/plan-cap.ts',
  isProduct,
  (one) =>
    /\bfreePlan\b|\bplan [!=]== '|problem\('LIMIT_EXCEEDED'/.test(one.text) &&
    !within(one.path, ['shared/platform/kernel/config.ts', 'shared/core/scope/plan-cap.ts'])
      ? ['take requireWithinPlan, withinPlan or planCapOf']
      : [],
  {
    'shared/core/records/limit.ts': 'if (count > config.freePlan.records) return',
    'shared/core/types/limit.ts': `if (workspace.plan === 'free') return`,
    'shared/core/roles/limit.ts': `throw problem('LIMIT_EXCEEDED')`,
  },
)

const shapes = eachFile(
  'schemas that several files use are declared in schemas.ts',
  ({ path }) => within(path, ['shared/core', 'shared/features']) && !/(?:^|[/-])(?:schemas|jobs)\.ts$/.test(path),
  ({ text }) =>
    [...text.matchAll(/^export const (\w+) = (?:schema\(|t\.)/gm)].map(([, name]) => `move ${name} to the schemas.ts of its folder`),
  { 'shared/core/roles/a.ts': 'export const decision = schema(t.Object({}))' },
)

const pools = eachFile(
  'pools of tests are opened by test/support/pool.ts',
  ({ path }) => within(path, ['test']) && !within(path, ['test/support/pool.ts', 'test/scripts/stand-in', 'test/architecture']),
  ({ text }) => (/\bnew (?:pg\.)?Pool\(/.test(text) ? ['take openPool'] : []),
  { 'test/core/records/a.ts': 'const db = new pg.Pool({ connectionString: url })' },
)

/** The parts of libraries beyond their documentation, each in one file, and the release that the file was checked against. */
export const internals = [
  {
    library: 'pg',
    release: '8.23',
    file: 'shared/platform/db/statements/pg-internals.ts',
    uses: 'lib/utils.js, lib/connection.js, lib/query.js',
  },
  {
    library: 'pg-protocol',
    release: '1.16',
    file: 'shared/platform/db/statements/pg-internals.ts',
    uses: 'the messages of src/serializer.ts',
  },
  {
    library: 'nodemailer',
    release: '10.6',
    file: 'workers/platform/mail/nodemailer-internals.ts',
    uses: 'smtp-connection, shared, mime-funcs',
  },
] as const

const inside = eachFile(
  'parts of a library beyond its documentation are used in one file',
  isProduct,
  (one) =>
    /from '(?:pg|nodemailer)\/lib\/|as unknown as \{ (?:readonly )?connection:/.test(one.text) &&
    !within(
      one.path,
      internals.map(({ file }) => file),
    )
      ? ['take the file of the library that ends with -internals.ts']
      : [],
  {
    'workers/platform/mail/a.ts': `import { encodeWord } from 'nodemailer/lib/mime-funcs'`,
    'shared/platform/db/a.ts': 'const { stream } = (client as unknown as { connection: Wire }).connection',
  },
)

const sealedPlaces = ['shared/platform/kernel', 'shared/platform/secrets']
const sealed = eachFile(
  'stored values are sealed by defineSealed, where a rotation of the secret key finds them',
  isProduct,
  (one) =>
    /\bcreateEncryptor\(|\bsecretKey\b/.test(one.text) && !within(one.path, sealedPlaces)
      ? ['take defineSealed, or createSigner for what is short-lived']
      : [],
  {
    'shared/features/functions/a.ts': `const vault = createEncryptor(config, 'things')`,
    'api/http/a.ts': `createHmac('sha256', config.secretKey)`,
  },
)

const literals = eachFile(
  'object literals hold their properties directly',
  isAny,
  ({ text }) => (/^\s*\.\.\.\{/m.test(text) ? ['write the properties without a spread'] : []),
  { 'shared/core/records/a.ts': 'const row = {\n  ...{ id, name },\n}' },
)

export const homeRules: readonly Rule[] = [
  atHome,
  environment,
  migrations,
  access,
  planCaps,
  waysOut,
  shapes,
  pools,
  inside,
  sealed,
  literals,
]

/** Every path that these rules name. */
export const homePaths: readonly string[] = [
  ...[...Object.values(homes), ...Object.values(builtIns)].flat(),
  'workers/features/functions/sandbox/runner/program.ts',
  'shared/core/scope/plan-cap.ts',
  'shared/core/scope/access.ts',
  ...internals.map(({ file }) => file),
  ...sealedPlaces,
  'test/support/pool.ts',
  'test/scripts/stand-in',
]
