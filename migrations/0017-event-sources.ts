import type { Knex } from 'knex'

/**
 * Lets rooms other than records announce events, and listeners ask for the record as a change left it. Takes event_listeners and event_outbox
 * for itself for a moment, which holds back changes that somebody listens to.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- Only a record type that is deleted takes those who listen to it along; what other sources call their topics is theirs to know.
    alter table event_listeners
      add column source text not null default 'records',
      add column snapshot boolean not null default false,
      add column record_type text generated always as (case when source = 'records' then object_type end) stored,
      drop constraint event_listeners_pkey,
      drop constraint event_listeners_type,
      drop constraint event_listeners_event_check,
      add primary key (workspace_id, source, object_type, event, subscriber, listener_id),
      add constraint event_listeners_event check (source <> 'records' or event in ('created', 'updated', 'deleted')),
      add constraint event_listeners_type foreign key (workspace_id, record_type)
        references record_types (workspace_id, key) on delete cascade;
    -- Whether an update must carry the whole record is remembered (shared/platform/events/listen.ts).
    create trigger event_listeners_changed after insert or update or delete on event_listeners
      for each row execute function note_change('workspace_id');

    alter table event_outbox
      add column source text not null default 'records',
      -- What the events are about, in the order of entry_ids: records, calendar events.
      add column subject_ids uuid[] not null default '{}',
      -- One for each event where a listener asked for it, else null.
      add column snapshots jsonb;
  `)
}
