import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import type pg from 'pg'
import type { Executor } from '#shared/platform/db/database.ts'
import { citusCoordinatorSettings, prepareSession } from '#shared/platform/db/pool/session-settings.ts'
import { boolean, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'migrations')

/** The table of applied migrations. */
const table = 'migrations'

/** The advisory lock of migrations, an arbitrary 64-bit number. */
export const migrationLockKey = 7_203_114_552

/** The interval at which a process tries to take the lock while another one migrates. */
const lockRetryMs = 200

interface Migrated {
  /** The migrations that this call applied. */
  readonly applied: readonly string[]
  /** What they logged by `raise warning`: one sentence for each thing that somebody has to look at. */
  readonly warnings: readonly string[]
}

/** Migrates the database to the newest migration, and then runs `afterwards`. Concurrent calls wait for each other. */
export async function migrate(databaseUrl: string, afterwards?: () => Promise<void>): Promise<Migrated> {
  const warnings: string[] = []
  const connection = { connectionString: databaseUrl }
  // Prints nothing, since knex throws every failure that it would print.
  const log = { warn: () => undefined, error: () => undefined }
  const prepare = (session: pg.Client, done: (error: unknown, session: pg.Client) => void) => {
    session.on('notice', ({ severity, message }) => severity === 'WARNING' && message && warnings.push(message))
    prepareSession(session, citusCoordinatorSettings).then(
      () => done(null, session),
      (error: unknown) => done(error, session),
    )
  }
  const db = knex({ client: 'pg', connection, pool: { min: 1, max: 2, afterCreate: prepare }, log })
  const lock = await db.client.acquireConnection()
  try {
    while (!(await tryLock(lock))) await pause(lockRetryMs)
    if (await db.schema.hasTable(table)) refuseSquashed(await db(table).orderBy('name').pluck('name'))
    const [, applied]: [number, string[]] = await db.migrate.latest({ migrationSource: forwardOnly, tableName: table })
    await afterwards?.()
    return { applied, warnings }
  } finally {
    // The lock ends with its session, also when this process is killed.
    await lock.end()
    await db.client.releaseConnection(lock)
    await db.destroy()
  }
}

/**
 * Tries to take the lock. Polling is required: a session that waits for the lock holds a snapshot, and CREATE INDEX CONCURRENTLY waits for that
 * snapshot, which is a deadlock.
 */
async function tryLock(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [migrationLockKey])
  return rows[0]?.taken === true
}

/** The first migration. Databases that begin with another one are older than the only squash of migrations (migrations/README.md). */
const first = '0001-platform.ts'

const hasMigrations = statement('db.hasMigrations', `select to_regclass('${table}') is not null as is_there`, {
  params: {},
  columns: { is_there: boolean.notNull },
})

const findApplied = statement('db.findApplied', `select name::text as name from ${table} order by ${table}.name`, {
  params: {},
  columns: { name: text },
})
/**
 * Throws when the database is not migrated, or was by migrations that were squashed. Every process calls it when it starts. A process may start
 * before the newest migration: `/readyz` is 503 until it is applied.
 */
export async function requireMigrations(database: Executor): Promise<void> {
  const applied = (await database.query(hasMigrations()))[0]?.is_there ? await database.query(findApplied()) : []
  if (applied.length === 0) throw new Error('The database is not migrated: run bin/kontor migrate first')
  refuseSquashed(applied.map(({ name }) => name))
}

/** The newest applied migration, and those that this program knows and the database lacks. */
export async function readMigrationState(db: Executor): Promise<{ readonly newest: string | null; readonly missing: readonly string[] }> {
  const applied = (await db.query(findApplied())).map(({ name }) => name)
  return { newest: applied.at(-1) ?? null, missing: (await listNames()).filter((name) => !applied.includes(name)) }
}

function refuseSquashed(names: readonly (string | null)[]): void {
  if (names.length > 0 && names[0] !== first)
    throw new Error(
      `This database was made by a release whose migrations are no longer part of Kontor (${names[0]}): export your data with that ` +
        'release, then start this one with an empty database, for npm start by deleting the folder .data.',
    )
}

let newest: Promise<string> | undefined
/** Returns the name of the newest migration that this program knows. */
export function findNewestMigration(): Promise<string> {
  newest ??= listNames().then((names) => names.at(-1) ?? '')
  return newest
}

const listNames = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.ts')).sort()

/** Migrations have no `down`: a later migration corrects a mistake. */
const forwardOnly: Knex.MigrationSource<string> = {
  getMigrations: listNames,
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const { up, config } = (await import(pathToFileURL(join(folder, name)).href)) as Knex.Migration & { config?: Knex.MigratorConfig }
    const down = () => Promise.reject(new Error(`${name} goes forward only`))
    return config ? { up, down, config } : { up, down }
  },
}
