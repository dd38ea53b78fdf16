import type { Knex } from 'knex'

/** The places of open streams of events. A new table takes no lock. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table event_streams (
      workspace_id uuid not null references workspaces on delete cascade,
      -- A workspace has this many streams at most, over all processes. Each open stream holds one place.
      place smallint not null check (place between 1 and 50),
      stream_id uuid not null,
      -- The process that sends the stream moves this on; a place that has expired is free.
      expires_at timestamptz not null,
      primary key (workspace_id, place)
    );
  `)
}
