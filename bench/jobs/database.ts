import type { Bench } from '#bench/case.ts'
import { Database } from '#shared/platform/db/database.ts'

/** A separate connection for reading queues, until the group's cases are measured. */
export function openDatabase({ databaseUrl, atEnd }: Pick<Bench, 'databaseUrl' | 'atEnd'>): Database {
  const db = new Database(databaseUrl, { connections: 4, name: 'bench queue', statementTimeoutMs: 600_000 })
  atEnd(() => db.close())
  return db
}
