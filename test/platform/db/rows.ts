import type { Db } from '#test/support/rows.ts'

/** Ends the session that runs a statement with this text; returns whether there was one. */
export async function endSessionRunning(db: Db, text: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where state = 'active' and query like $1 and pid <> pg_backend_pid()`,
    [`%${text}%`],
  )
  return rowCount === 1
}
