import type { HeldLock } from '#test/support/locks.ts'
import type { Db } from '#test/support/rows.ts'

const select = 'select operator_id, operator, action, subject, count from operator_log order by at, id'

/** An entry of the log without its id and instant. */
interface LoggedRow {
  readonly operator_id: string | null
  readonly operator: string
  readonly action: string
  readonly subject: object
  readonly count: number
}

/** Reads the log from now on. */
export async function followLog(db: Db): Promise<() => Promise<readonly LoggedRow[]>> {
  const { rowCount } = await db.query(select)
  return async () => (await db.query<LoggedRow>(select)).rows.slice(rowCount ?? 0)
}

/** Refuses new entries of the log, until `accept` is called. */
export async function refuseEntries(db: Db): Promise<{ readonly accept: () => Promise<unknown> }> {
  await db.query('alter table operator_log add constraint refused check (false) not valid')
  return { accept: () => db.query('alter table operator_log drop constraint refused') }
}

/** Changes or deletes every entry of the log, which the database refuses. */
export const meddleWithLog = (db: Db, statement: 'update' | 'delete' | 'truncate'): Promise<unknown> =>
  db.query(
    { update: 'update operator_log set count = 2', delete: 'delete from operator_log', truncate: 'truncate operator_log' }[statement],
  )

/** Removes an operator past the API, as the command does. */
export async function dropOperator(db: Pick<HeldLock, 'query'>, userId: string): Promise<void> {
  await db.query('delete from operators where user_id = $1', [userId])
}

/** Deletes a person with everything that is its own. */
export async function deletePerson(db: Db, userId: string): Promise<void> {
  await db.query('delete from users where id = $1', [userId])
}

/** The status of a workspace. */
export async function readStatus(db: Db, id: string): Promise<string | undefined> {
  return (await db.query<{ status: string }>('select status from workspaces where id = $1', [id])).rows[0]?.status
}

/** Puts a workspace into this state, past the API. */
export async function putWorkspace(db: Db, id: string, state: 'active' | 'provisioning' | 'deleting'): Promise<void> {
  const columns = { active: ['active', null], provisioning: ['provisioning', null], deleting: ['suspended', new Date()] }[state]
  await db.query('update workspaces set status = $2, deleting_at = $3 where id = $1', [id, ...columns])
}

/** Ends all sessions of the console. */
export async function endSessions(db: Db): Promise<void> {
  await db.query('delete from operator_sessions')
}
