import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'

const folder = join(import.meta.dirname, '..', '..', 'migrations')

/** Any 64-bit number of our own: processes that migrate at once wait for each other on it. */
const lockKey = 7_203_114_552

/** Brings the database to the newest migration, one process at a time; the others wait and find nothing left to do. */
export async function migrate(databaseUrl: string): Promise<void> {
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 1, max: 2 } })
  const lock = await db.client.acquireConnection()
  try {
    await lock.query('select pg_advisory_lock($1)', [lockKey])
    await db.migrate.latest({ migrationSource: forwardOnly, tableName: 'migrations' })
  } finally {
    // The lock goes with its session, also when this process is killed.
    await lock.end()
    await db.client.releaseConnection(lock)
    await db.destroy()
  }
}

let newest: Promise<string> | undefined
/** The name of the newest migration that this program knows. */
export function newestMigration(): Promise<string> {
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
