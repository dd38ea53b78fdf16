import type { Knex } from 'knex'

/** What events keep for listeners that test fields. Locks `event_listeners` exclusively for a moment; it is not rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    -- Keys of the fields that the listener tests: events of updates keep their values where they did not change.
    alter table event_listeners add column keeps text[] not null default '{}';
  `)
}
