import type { Knex } from 'knex'

/** Who listens to changes of records, how a change is handed on to them, and the notifications that members get. New tables only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index audit_entries_type on audit_entries (workspace_id, object_type, id desc);
    create index audit_entries_actor on audit_entries (workspace_id, actor_id, id desc);

    -- What was recorded stays as it is.
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% only grows', tg_table_name;
    end $$;
    create trigger audit_entries_stay before update or delete or truncate on audit_entries
      for each statement execute function refuse_change();

    -- Written in the transaction that makes something listen, or stop: a change of a record looks here and nowhere else.
    create table event_listeners (
      workspace_id uuid not null,
      object_type text not null,
      event text not null check (event in ('created', 'updated', 'deleted')),
      subscriber text not null,
      listener_id uuid not null,
      primary key (workspace_id, object_type, event, subscriber, listener_id),
      constraint event_listeners_type foreign key (workspace_id, object_type) references record_types (workspace_id, key) on delete cascade
    );
    create index event_listeners_listener on event_listeners (workspace_id, subscriber, listener_id);

    -- Files a dispatch of these audit entries to those who listen at this moment; false when nobody does. The row is the one that pg-boss
    -- would make of a job without options. It is filed here so that a change and its dispatch are one statement.
    create function dispatch_changes(workspace uuid, type_key text, change text, entries uuid[], cause jsonb) returns boolean
    language plpgsql as $$
    declare
      listening jsonb;
    begin
      select jsonb_object_agg(subscriber, ids) into listening from (
        select subscriber, jsonb_agg(listener_id order by listener_id) as ids
        from event_listeners
        where workspace_id = workspace and object_type = type_key and event = change
        group by subscriber
      ) as heard;
      if listening is null or cardinality(entries) = 0 then
        return false;
      end if;
      insert into pgboss.job (
        name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
        retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
      )
      select queue.name,
        jsonb_build_object('workspaceId', workspace, 'cause', cause, 'payload', jsonb_build_object(
          'workspaceId', workspace, 'objectType', type_key, 'event', change, 'entryIds', entries, 'listeners', listening
        )),
        workspace, pgboss.job_now(), pgboss.job_now(), pgboss.job_now() + queue.retention_seconds * interval '1s',
        queue.expire_seconds, queue.deletion_seconds, queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max,
        queue.policy, queue.dead_letter, queue.heartbeat_seconds
      from pgboss.queue as queue
      where queue.name = 'events.dispatch';
      if not found then
        raise exception 'The queue events.dispatch is missing: run the release';
      end if;
      return true;
    end $$;

    create table notification_rules (
      workspace_id uuid not null,
      id uuid not null,
      name text not null,
      object_type text not null,
      event text not null check (event in ('created', 'updated', 'deleted')),
      title text not null,
      audience text not null default 'all_members' check (audience = 'all_members'),
      enabled boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint notification_rules_type foreign key (workspace_id, object_type) references record_types (workspace_id, key) on delete cascade
    );
    create index notification_rules_type on notification_rules (workspace_id, object_type);

    -- The id of the item that an event makes for a rule and a member: the time of the event's own id, which is a UUID of version 7, and 60
    -- bits of a digest. Written again it is the same, so the inbox's key keeps items apart and in the order of their events.
    create function notification_id(entry uuid, rule uuid, member uuid) returns uuid
    language sql immutable strict parallel safe
    return (left(entry::text, 18) || '-8' || substr(md5(entry::text || rule::text || member::text), 1, 15))::uuid;

    create table notifications (
      workspace_id uuid not null,
      user_id uuid not null,
      id uuid not null,
      title text not null,
      object_type text not null,
      record_id uuid not null,
      event text not null,
      created_at timestamptz not null generated always as (uuid_extract_timestamp(id)) virtual,
      read_at timestamptz,
      primary key (workspace_id, user_id, id)
    );
    create index notifications_unread on notifications (workspace_id, user_id, id desc) where read_at is null;

    -- A member removed keeps nothing, and one that comes again starts afresh: what a worker was writing meanwhile goes too.
    create function clear_notifications() returns trigger language plpgsql as $$
    declare
      member members := case when tg_op = 'DELETE' then old else new end;
    begin
      delete from notifications where workspace_id = member.workspace_id and user_id = member.user_id;
      return null;
    end $$;
    create trigger members_clear_notifications after insert or delete on members for each row execute function clear_notifications();
  `)
}
