import type { Knex } from 'knex'

/**
 * The numbered list of events of each workspace. Replaces `event_outbox`, whose rows become `waiting_deliveries`. Locks `event_outbox`,
 * `event_listeners` and `workspaces` exclusively for a moment; no table is rewritten. Processes of the previous release go on by the view
 * `event_outbox`: what they write is delivered, and is in no list of events.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- What happened and has no number yet. A change of a record draws the id after the record's lock is held, so the ids of a record's changes
    -- are in their order; of what committed before another change began, the id is lower. Rows that commit late have low ids.
    create sequence event_inbox_ids;
    create table event_inbox (
      workspace_id uuid not null,
      id bigint not null default nextval('event_inbox_ids'),
      -- A UUID of version 7; of changes of records that of the audit entry, which holds the values.
      event_id uuid not null,
      -- The type in the list of events; null for what only listeners hear, such as the approach of a calendar event.
      type text,
      -- For listeners: the source and its event, null for changes of records, whose type says both, and the topic (of records the type's key).
      source text,
      event text,
      topic text not null,
      subject_id uuid not null,
      -- Of a record, before its deletion.
      created_by uuid,
      created_at timestamptz,
      updated_at timestamptz,
      -- The subject after the event, for listeners: of an updated record only where one asks for it, of other records never.
      snapshot jsonb,
      -- The listeners by subscriber, where they are not looked up.
      listeners jsonb,
      cause jsonb not null,
      primary key (workspace_id, id)
    );
    alter sequence event_inbox_ids owned by event_inbox.id;
    -- From now on last_value is the last id, also before the first row.
    select nextval('event_inbox_ids');

    -- The list of events of a workspace: which list, and the last number. Who numbers the workspace's events holds a lock on the row.
    create table feed_heads (
      workspace_id uuid primary key references workspaces on delete cascade,
      feed uuid not null default uuidv7(),
      last_seq bigint not null default 0
    );
    create function make_feed_head() returns trigger language plpgsql as $$
    begin
      insert into feed_heads (workspace_id) values (new.id);
      return null;
    end $$;
    create trigger workspaces_make_feed_head after insert on workspaces for each row execute function make_feed_head();
    insert into feed_heads (workspace_id) select id from workspaces;

    -- Numbered events, for some days. The values of a record's change are in its audit entry.
    create table events (
      workspace_id uuid not null,
      seq bigint not null,
      id uuid not null,
      type text not null,
      topic text not null,
      subject_id uuid not null,
      -- Of a record.
      created_by uuid,
      created_at timestamptz,
      -- The subject after the event, and why it happened; null for records, whose audit entry has both.
      data jsonb,
      cause jsonb,
      primary key (workspace_id, seq)
    );

    -- The value of the sequence when the listener began: it hears what has a higher id.
    create function last_inbox_id() returns bigint language sql as 'select last_value from event_inbox_ids';
    alter table event_listeners add column since bigint not null default 0;
    alter table event_listeners alter column since set default last_inbox_id();

    -- Deliveries whose jobs are not enqueued yet: their workspace is suspended or has many such jobs already, or this release does not know
    -- a subscriber.
    alter table event_outbox rename to waiting_deliveries;
    alter table waiting_deliveries rename constraint event_outbox_pkey to waiting_deliveries_pkey;
    -- The number of the first event; null for deliveries of the previous release.
    alter table waiting_deliveries add column seq bigint;
    create view event_outbox as
      select workspace_id, id, source, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause from waiting_deliveries;

    -- As before (0001-platform.ts), of the renamed table.
    create or replace function list_dispatch_workspaces(after uuid, at_most integer) returns setof uuid
    language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      with recursive listed as (
        (select workspace_id, 1 as place from waiting_deliveries where workspace_id > after order by workspace_id limit 1)
        union all
        select next.workspace_id, listed.place + 1
        from listed
        cross join lateral (
          select workspace_id from waiting_deliveries where workspace_id > listed.workspace_id order by workspace_id limit 1
        ) as next
        where listed.place < at_most
      )
      select workspace_id from listed
    $$;
    create or replace function take_dispatches(known text[], workspaces uuid[], of_each integer) returns setof waiting_deliveries
    language sql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      delete from waiting_deliveries
      where ctid = any(array(
        select waiting.ctid
        from unnest(workspaces) as listed (workspace_id)
        cross join lateral (
          select waiting_deliveries.ctid from waiting_deliveries
          where waiting_deliveries.workspace_id = listed.workspace_id
            and not exists (select from jsonb_object_keys(listeners) as subscriber where subscriber <> all(known))
          order by id limit of_each
          for update skip locked
        ) as waiting
      ))
      returning waiting_deliveries.*
    $$;

    -- Up to at_most workspaces with events to number, after a given one. The settings have the reason of list_dispatch_workspaces.
    create function list_inbox_workspaces(after uuid, at_most integer) returns setof uuid
    language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      with recursive listed as (
        (select workspace_id, 1 as place from event_inbox where workspace_id > after order by workspace_id limit 1)
        union all
        select next.workspace_id, listed.place + 1
        from listed
        cross join lateral (
          select workspace_id from event_inbox where workspace_id > listed.workspace_id order by workspace_id limit 1
        ) as next
        where listed.place < at_most
      )
      select workspace_id from listed
    $$;

    -- Takes the visible events of some workspaces with the lowest ids, at most of_each of each. Nobody else takes them: the caller has locked
    -- the heads of the workspaces.
    create function take_inbox(workspaces uuid[], of_each integer) returns setof event_inbox
    language sql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      delete from event_inbox
      where ctid = any(array(
        select waiting.ctid
        from unnest(workspaces) as listed (workspace_id)
        cross join lateral (
          select event_inbox.ctid from event_inbox where event_inbox.workspace_id = listed.workspace_id order by id limit of_each
        ) as waiting
      ))
      returning event_inbox.*
    $$;
  `)
}
