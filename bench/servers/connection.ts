import pg from 'pg'
import { Database } from '#shared/platform/db/database.ts'

/** Runs some work on a bare connection of its own. */
export async function withClient<T>(databaseUrl: string, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client(databaseUrl)
  await db.connect()
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

/** Runs some work on connections of its own, as Kontor opens them; a statement may take 15 minutes. */
export async function withDatabase<T>(databaseUrl: string, name: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = new Database(databaseUrl, { connections: 2, name: `bench ${name}`, statementTimeoutMs: 900_000 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
