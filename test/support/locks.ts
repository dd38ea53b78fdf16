import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { waitedFor } from '#test/support/waiting.ts'

/** An open transaction of a test that holds locks. It ends by `release`, or by the end of the test. */
export interface HeldLock {
  /** Resolves once another session waits for a lock that it holds. */
  readonly waitedFor: () => Promise<void>
  /** Runs a statement in the transaction. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<unknown>
  /** Rolls back instead of `release`. */
  readonly abort: () => Promise<void>
  /** Commits, so that the sessions that wait continue. */
  readonly release: () => Promise<void>
}

type T = Pick<ExecutionContext, 'teardown'>

type LockMode = 'access exclusive' | 'exclusive' | 'share row exclusive'

/** Inserts an Idempotency-Key without committing, so that requests with the key wait. */
export const holdIdempotencyKey = (t: T, db: Pool, principalId: string, path: string, key: string): Promise<HeldLock> =>
  begin(t, db, `insert into idempotency_records (principal_id, path, key, body_hash) values ($1, $2, $3, '')`, [principalId, path, key])

/** Locks one row of a table. */
export const lockRow = (t: T, db: Pool, table: string, id: string): Promise<HeldLock> =>
  begin(t, db, `select from ${table} where id = $1 for update`, [id])

/** Locks the rows of a table that this condition is true of, or all. */
export const lockRows = (t: T, db: Pool, table: string, condition = 'true', values: readonly unknown[] = []): Promise<HeldLock> =>
  begin(t, db, `select from ${table} where ${condition} for update`, values)

/** Locks a table, by default against every other use. */
export const lockTable = (t: T, db: Pool, table: string, mode: LockMode = 'access exclusive'): Promise<HeldLock> =>
  begin(t, db, `lock table ${table} in ${mode} mode`)

/** Reads a table, so that changes of its columns wait. */
export const readTable = (t: T, db: Pool, table: string): Promise<HeldLock> => begin(t, db, `select from ${table}`)

/** Takes a snapshot, so that an index that is created concurrently is not completed. */
export const beginSnapshot = (t: T, db: Pool): Promise<HeldLock> => begin(t, db, 'select', [], 'repeatable read')

async function begin(t: T, db: Pool, statement: string, values: readonly unknown[] = [], isolation = 'read committed'): Promise<HeldLock> {
  const client = await db.connect()
  let isOpen = true
  t.teardown(() => isOpen && client.release(true))
  await client.query(`begin isolation level ${isolation}`)
  await client.query(statement, [...values])
  const end = async (statement: string) => {
    await client.query(statement)
    isOpen = false
    client.release()
  }
  return {
    waitedFor: () => waitedFor(db, client),
    query: (text, more = []) => client.query(text, [...more]),
    release: () => end('commit'),
    abort: () => end('rollback'),
  }
}
