import type { Knex } from 'knex'

/** Keeps jobs that wait until their workspace is active, or their app on, again. A new table; nothing else is locked. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A job that was taken from its queue for that long. What is due of the kind 'rest' puts it back.
    create table resting_jobs (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      queue text not null,
      envelope jsonb not null,
      primary key (workspace_id, id)
    );
  `)
}
