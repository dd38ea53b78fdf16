import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import type pg from 'pg'
import { citusCoordinatorOption } from '#shared/platform/db/database.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'migrations')

/** Any 64-bit number of our own: processes that migrate at once wait for each other on it. */
export const migrationLockKey = 7_203_114_552

/** How often a process that waits for another's migrations asks whether they are done. */
const askAgainMs = 200

/** Brings the database to the newest migration, one process at a time; the others wait and find nothing left to do. */
export async function migrate(databaseUrl: string): Promise<void> {
  const connection = { connectionString: databaseUrl, options: citusCoordinatorOption }
  // What it would print is thrown as well.
  const log = { warn: () => undefined, error: () => undefined }
  const db = knex({ client: 'pg', connection, pool: { min: 1, max: 2 }, log })
  const lock = await db.client.acquireConnection()
  try {
    while (!(await isTaken(lock))) await pause(askAgainMs)
    await db.migrate.latest({ migrationSource: forwardOnly, tableName: 'migrations' })
  } finally {
    // The lock goes with its session, also when this process is killed.
    await lock.end()
    await db.client.releaseConnection(lock)
    await db.destroy()
  }
}

/**
 * Whether the lock is ours now. Asked for again and again: who waits for it in the database holds a snapshot meanwhile, and an index that is
 * created concurrently waits for that, so that neither would come to an end.
 */
async function isTaken(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [migrationLockKey])
  return rows[0]?.taken === true
}

let newest: Promise<string> | undefined
/** The name of the newest migration that this program knows. */
export function findNewestMigration(): Promise<string> {
  newest ??= names().then((all) => all.at(-1) ?? '')
  return newest
}

const names = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.ts')).sort()

/** Migrations go forward only: a mistake is mended by the next one. */
const forwardOnly: Knex.MigrationSource<string> = {
  getMigrations: names,
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const { up, config } = (await import(pathToFileURL(join(folder, name)).href)) as Knex.Migration & { config?: Knex.MigratorConfig }
    const down = () => Promise.reject(new Error(`${name} goes forward only`))
    return config ? { up, down, config } : { up, down }
  },
}
