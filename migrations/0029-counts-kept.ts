import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * Counts that operators see of held and failed jobs and of mails. The tables are new: no lock. The indexes are built beside writers.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Counted every few seconds by a maintenance task, so that a look costs the same with a million jobs as with none. The platform's own rows.
    create table if not exists job_counts (
      job text primary key,
      -- Jobs that wait for their workspace or app.
      held integer not null,
      failed integer not null,
      -- Dead letters: those that failed in every attempt.
      given_up integer not null
    );
    create table if not exists mail_counts (
      only_row boolean primary key default true check (only_row),
      waiting integer not null,
      -- When the first waiting mail was written.
      oldest timestamptz,
      uncertain integer not null,
      failed_day integer not null
    );
  `)
  await knex.raw('drop index concurrently if exists deferred_jobs_queue')
  await knex.raw('create index concurrently deferred_jobs_queue on deferred_jobs (queue)')
  // Sent mails are most of the outbox, and nobody looks for them by their status.
  await knex.raw('drop index concurrently if exists outbox_mails_unsent')
  await knex.raw(`create index concurrently outbox_mails_unsent on outbox_mails (status, created_at) where status <> 'sent'`)
}
