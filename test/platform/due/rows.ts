import type { Db } from '#test/support/rows.ts'

/** Adds a session of the owner of some workspace that ended a second ago. */
export async function addEndedSession(db: Db): Promise<void> {
  await db.query(
    `insert into sessions (id, user_id, token_hash, expires_at)
     select uuidv7(), owner_id, 'ended', now() - interval '1 second' from workspaces limit 1`,
  )
}

/** Makes unfinished operations an hour old. */
export async function ageOpenOperations(db: Db): Promise<void> {
  await db.query(`update operations set created_at = now() - interval '1 hour' where finished_at is null`)
}

/** Creates a table of 25 rows, one for each hour from 2030-01-01 on. */
export async function createLitter(db: Db): Promise<void> {
  await db.query('create table litter (at timestamptz not null)')
  await db.query(`insert into litter select timestamptz '2030-01-01' + n * interval '1 hour' from generate_series(0, 24) as n`)
}

/** Deletes the due work whose kind is like this pattern, and returns the number of rows. */
export async function deleteDueWork(db: Db, kind: string): Promise<number> {
  return (await db.query('delete from due_work where kind like $1', [kind])).rowCount ?? 0
}

/** Drops that table. */
export async function dropLitter(db: Db): Promise<void> {
  await db.query('drop table litter')
}

/** Lets every session last an hour longer. */
export async function prolongSessions(db: Db): Promise<void> {
  await db.query(`update sessions set expires_at = now() + interval '1 hour'`)
}

/** The payloads of the jobs of this name, in any state. */
export async function readJobPayloads<T>(db: Db, name: string): Promise<T[]> {
  const statement = `select data -> 'payload' as payload from pgboss.job where name = $1`
  return (await db.query<{ payload: T }>(statement, [name])).rows.map(({ payload }) => payload)
}

/** The time at which a maintenance task is due. */
export async function readMaintenanceTime(db: Db, name: string): Promise<string | undefined> {
  const { rows } = await db.query<{ at: Date }>(`select at from due_work where kind = 'maintenance' and subject = $1`, [name])
  return rows[0]?.at.toISOString()
}

/** The queues of the jobs that are deferred, in alphabetical order. */
export async function readRestingQueues(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ queue: string }>('select queue from deferred_jobs order by queue')
  return rows.map(({ queue }) => queue)
}
