import type { Executor, Tx } from '#shared/db/database.ts'
import type { Services } from '#shared/scope/scope.ts'
import { followUse } from '#shared/types/indexes/follow.ts'
import { upgradeWorkspaces } from '#shared/types/upgrade.ts'
import { settleAbandoned } from '#workers/maintenance/abandoned.ts'

type Sweeper = Services & { db: Executor }

interface Sweep {
  readonly name: string
  /** A cron expression with seconds. */
  readonly every: string
  /** Ends early, and whole, when the signal aborts. */
  readonly run: (services: Sweeper, signal: AbortSignal) => Promise<void>
}

/** Runs `work` in a transaction that holds the sweep's lock, unless another process holds it. */
const alone = async (name: string, { db }: Sweeper, work: (tx: Tx) => Promise<void>): Promise<void> => {
  await db.transaction(async (tx) => {
    const [lock] = await tx.query<{ taken: boolean }>({
      text: `select pg_try_advisory_xact_lock(hashtext($1)) as taken`,
      values: [`sweep ${name}`],
    })
    if (lock?.taken) await work(tx)
  })
}

/** A sweep that deletes rows past their time. */
const remove = (name: string, every: string, text: string): Sweep => ({
  name,
  every,
  run: (services) => alone(name, services, async (tx) => void (await tx.query({ text }))),
})

/** What is cleaned up behind processes that died and rows past their time, and how often. */
export const sweeps: readonly Sweep[] = [
  {
    name: 'abandoned operations',
    every: '*/10 * * * * *',
    run: (services) => alone('abandoned operations', services, (tx) => settleAbandoned(tx, services.queue)),
  },
  {
    name: 'jobs at gates',
    every: '*/5 * * * * *',
    run: (services) => alone('jobs at gates', services, () => services.queue.doors.letInAll()),
  },
  {
    name: 'indexes that follow use',
    every: '*/10 * * * * *',
    run: async (services, signal) => void (await followUse(services, signal)),
  },
  {
    name: 'built-in types',
    every: '5,25,45 * * * * *',
    run: upgradeWorkspaces,
  },
  remove('faded uses', '0 37 3 * * *', `delete from field_uses where used_at < now() - interval '90 days'`),
  remove('seen changes', '30 */5 * * * *', `delete from cache_changes where created_at < now() - interval '1 hour'`),
  remove('finished operations', '0 7 * * * *', `delete from operations where finished_at < now() - interval '30 days'`),
  // They hold every record that was changed. An Idempotency-Key asks for them for 24 hours.
  remove(
    'answers of batches',
    '0 12 * * * *',
    `delete from operations where job = 'records.change' and finished_at < now() - interval '25 hours'`,
  ),
  remove('old runs of functions', '0 57 * * * *', `delete from function_runs where finished_at < now() - interval '30 days'`),
  remove('old files of jobs', '0 17 * * * *', `delete from job_files where created_at < now() - interval '1 day'`),
  remove('kept answers', '0 47 * * * *', `delete from kept_answers where created_at < now() - interval '24 hours'`),
  remove('ended sessions', '0 27 * * * *', `delete from sessions where expires_at < now()`),
  remove('ended password resets', '0 37 * * * *', `delete from password_resets where expires_at < now()`),
  remove('ended invitations', '0 47 * * * *', `delete from invitations where expires_at < now()`),
  remove('sent mail', '0 57 * * * *', `delete from outbox_mails where status = 'sent' and sent_at < now() - interval '30 days'`),
  remove('old rate windows', '0 */10 * * * *', `delete from rate_limits where expire < extract(epoch from now()) * 1000`),
]
