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
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await db.query(waiting)).rowCount === 0);
  await other.query('commit')
  other.release()
  return result
}
