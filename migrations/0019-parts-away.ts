import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * Work that waits for a part, and jobs that callers filed. The columns lock `operations`, `flow_runs` and `outbox_mails` exclusively for a moment; no
 * table is rewritten, and the indexes are built beside writers.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    begin;
    set local lock_timeout = '10s';
    -- The part that the operation's job waits for, as its caller is told.
    alter table operations add column if not exists awaits_part text;
    -- Whether a caller's own request filed the job, so that it counts among the workspace's waiting jobs.
    alter table operations add column if not exists is_filed boolean not null default false;
    alter table flow_runs add column if not exists is_filed boolean not null default false;
    -- Whether the server of the mail's connection was away at the last attempt.
    alter table outbox_mails add column if not exists awaits_server boolean not null default false;
    commit;
  `)
  await knex.raw('drop index concurrently if exists operations_filed')
  await knex.raw(
    "create index concurrently operations_filed on operations (workspace_id, kind) where is_filed and status = 'queued' and finished_at is null",
  )
  await knex.raw('drop index concurrently if exists flow_runs_filed')
  await knex.raw("create index concurrently flow_runs_filed on flow_runs (workspace_id) where is_filed and status = 'queued'")
  await knex.raw('drop index concurrently if exists outbox_mails_awaiting')
  await knex.raw('create index concurrently outbox_mails_awaiting on outbox_mails (workspace_id, connection_id) where awaits_server')
}
