import type { PoolClient } from 'pg'
import type { World } from '#test/support/world.ts'

/**
 * Calls while `statement` has been made by somebody else and is not committed yet; it is committed once the call waits for it. Gives what
 * the call gives. A call that does not wait never ends, and fails its test by that.
 */
export async function whileWaiting<T>({ db }: Pick<World, 'db'>, statement: string, call: () => Promise<T>): Promise<T> {
  const other = await db.connect()
  await other.query('begin')
  await other.query(statement)
  const result = call()
  await waitedFor(db, other)
  await other.query('commit')
  other.release()
  return result
}

/** Resolves once somebody waits for a lock that this connection holds. */
export async function waitedFor(db: World['db'], holder: PoolClient): Promise<void> {
  const { rows } = await holder.query('select pg_backend_pid() as pid')
  const waiting = 'select from pg_stat_activity where datname = current_database() and $1 = any (pg_blocking_pids(pid))'
  while ((await db.query(waiting, [rows[0].pid])).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 10))
}
