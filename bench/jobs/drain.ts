import { setTimeout as delay } from 'node:timers/promises'
import type { Executor } from '#shared/platform/db/database.ts'

/** Waits until a queue has completed this many jobs and returns the rate per second, from the first start to the last completion. */
export async function drained(db: Executor, queue: string, count: number): Promise<number> {
  for (;;) {
    const [row] = await db.query<{ done: number; seconds: number }>({
      text: `select count(*) as done, extract(epoch from max(completed_on) - min(started_on))::float8 as seconds
        from pgboss.job where name = $1 and state = 'completed'`,
      values: [queue],
    })
    if (row && row.done >= count) return row.done / row.seconds
    await delay(100)
  }
}

/** Replaces the jobs of a queue by this many waiting ones without data. */
export async function putEmpty(db: Executor, queue: string, count: number): Promise<void> {
  await forget(db, queue)
  await db.query({ text: `insert into pgboss.job (name, data) select $1, '{}' from generate_series(1, $2::int)`, values: [queue, count] })
}

/** Deletes the completed jobs of a queue. */
export async function forget(db: Executor, queue: string): Promise<void> {
  await db.query({ text: 'delete from pgboss.job where name = $1', values: [queue] })
}
