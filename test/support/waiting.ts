import type { Pool, PoolClient } from 'pg'
import { eventually } from '#test/support/eventually.ts'
import type { Db } from '#test/support/rows.ts'

/**
 * Calls while another transaction has made a change and not committed it. Commits once the call waits for that transaction, and returns the
 * result of the call. Fails when the call does not wait.
 */
export async function whileWaiting<T>(
  { db }: { readonly db: Pool },
  change: (other: Db) => Promise<unknown>,
  call: () => Promise<T>,
): Promise<T> {
  const other = await db.connect()
  await other.query('begin')
  await change(other)
  const result = call()
  await waitedFor(db, other)
  await other.query('commit')
  other.release()
  return result
}

/** Resolves once another session waits for a lock that this connection holds. */
export async function waitedFor(db: Pool, holder: PoolClient): Promise<void> {
  const { rows } = await holder.query('select pg_backend_pid() as pid')
  const waiting = 'select from pg_stat_activity where datname = current_database() and $1 = any (pg_blocking_pids(pid))'
  await eventually(async () => (await db.query(waiting, [rows[0].pid])).rowCount !== 0)
}

/** The number of sessions that wait for a lock of one kind or any, in a statement like `query`, a pattern of `like`. */
export async function countLockWaits(db: Db, query = '%', kind?: 'relation' | 'transactionid'): Promise<number> {
  const { rowCount } = await db.query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like $1 and wait_event = coalesce($2, wait_event)`,
    [query, kind ?? null],
  )
  return rowCount ?? 0
}
