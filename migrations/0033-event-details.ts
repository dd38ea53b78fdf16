import type { Knex } from 'knex'

/** What events keep for their readers. Locks `event_inbox` and `events` exclusively for a moment; neither is rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    alter table event_inbox
      -- Of an updated record, the values that did not change of the fields that conditions on reading test, in JSON form.
      add column kept jsonb,
      -- What the event is about, as readers see it; null for records, whose subject is the record.
      add column subject jsonb;
    alter table events
      add column kept jsonb,
      add column subject jsonb;
  `)
}
