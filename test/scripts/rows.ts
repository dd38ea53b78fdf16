import type { Db } from '#test/support/rows.ts'

/** Makes every event without a number an hour old. */
export async function ageEvents(db: Db): Promise<void> {
  await db.query(`update event_inbox set event_id = uuidv7(interval '-1 hour')`)
}

/** Makes a job that its gate has let in an hour old, with its operation. */
export async function ageGatedJob(db: Db, id: string): Promise<void> {
  const { rows } = await db.query<{ id: string }>(`select uuidv7(interval '-1 hour') as id`)
  for (const table of ['pgboss.job', 'gated_jobs', 'operations']) {
    await db.query(`update ${table} set id = $1 where id = $2`, [rows[0]?.id, id])
  }
}

/** Makes the jobs of this name an hour old. */
export async function ageJobs(db: Db, name: string): Promise<void> {
  await db.query(
    `update pgboss.job set created_on = created_on - interval '1 hour', start_after = start_after - interval '1 hour' where name = $1`,
    [name],
  )
}

/** Makes every job that waits at its gate an hour old. */
export async function ageWaitingJobs(db: Db): Promise<void> {
  await db.query(`update gated_jobs set id = uuidv7(interval '-1 hour') where slot is null`)
}

/** Makes the jobs of this name wait for another try in an hour. */
export async function waitForRetry(db: Db, name: string): Promise<void> {
  await db.query(`update pgboss.job set state = 'retry', retry_count = 1, start_after = now() + interval '1 hour' where name = $1`, [name])
}
