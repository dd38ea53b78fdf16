import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import type { Db } from '#test/support/rows.ts'
import { waitedFor } from '#test/support/waiting.ts'

/** Adds people to a workspace who never sign in. */
export async function addMembers(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `with people as (
       insert into users (id, email, name, password_hash)
       select uuidv7(), n || '@example.com', 'Member ' || n, 'none' from generate_series(1, $2::integer) as n returning id
     )
     insert into members (workspace_id, user_id) select $1, id from people`,
    [workspaceId, count],
  )
}

/** Adds so many events of creations of the workspace, each of a request of its own. */
export async function addEvents(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into event_inbox (workspace_id, event_id, type, topic, subject_id, created_at, updated_at, cause)
     select $1, uuidv7(), 'records.created', 'locations', uuidv7(), now(), now(),
       jsonb_build_object('actorId', null, 'actorType', 'system', 'requestId', 'request ' || n, 'depth', 0)
     from generate_series(1, $2::integer) as n`,
    [workspaceId, count],
  )
}

/** Adds as many workspaces with an event and a listener each. */
export async function addForeignEvents(db: Db, count: number): Promise<void> {
  await db.query(
    `with made as (
       insert into workspaces (id, name, owner_id, share_id, plan, builtin_version)
       select uuidv7(), 'Foreign', owner_id, share_id, plan, builtin_version from (select * from workspaces limit 1) as one, generate_series(1, $1)
       returning id
     ),
     inbox as (
       insert into event_inbox (workspace_id, event_id, source, event, topic, subject_id, cause)
       select id, uuidv7(), 'test', 'created', '', uuidv7(), '{"actorId": null, "actorType": "system", "requestId": "many", "depth": 0}'
       from made
     )
     insert into event_listeners (workspace_id, subscriber, listener_id, source, object_type, event, since)
     select id, 'notifications', uuidv7(), 'test', '', 'created', 0 from made`,
    [count],
  )
}

/** Adds numbered events to a workspace's list, so many seconds old. */
export async function addNumberedEvents(db: Db, workspaceId: string, ages: readonly number[]): Promise<void> {
  await db.query(
    `with head as (
       update feed_heads set last_seq = last_seq + cardinality($2::integer[]) where workspace_id = $1 returning old.last_seq
     )
     insert into events (workspace_id, seq, id, type, topic, subject_id)
     select $1, last_seq + place, uuidv7(- age * interval '1 second'), 'records.created', 'locations', uuidv7()
     from head, unnest($2::integer[]) with ordinality as event (age, place)`,
    [workspaceId, ages],
  )
}

/** Lets the delivery of a numbered event wait. */
export async function keepWaiting(db: Db, workspaceId: string, seq: number): Promise<void> {
  await db.query(
    `insert into waiting_deliveries (workspace_id, seq, object_type, event, entry_ids, listeners, cause)
     values ($1, $2, 'locations', 'created', '{}', '{}', '{}')`,
    [workspaceId, seq],
  )
}

/** The number of pairs of a person and a record that were notified. */
export async function countNotified(db: Db): Promise<number> {
  const statement = 'select count(distinct (user_id, record_id))::integer as count from notifications'
  return (await db.query<{ count: number }>(statement)).rows[0]?.count ?? 0
}

/** Removes every event without a number, every waiting delivery, and the deliveries of notifications. */
export async function deleteDeliveries(db: Db): Promise<void> {
  await db.query(`truncate event_inbox, waiting_deliveries; delete from pgboss.job where name = 'notifications.deliver'`)
}

/** Removes every event without a number, and every waiting delivery. */
export async function deleteEvents(db: Db): Promise<void> {
  await db.query('delete from event_inbox; delete from waiting_deliveries')
}

/** Removes every listener. */
export async function deleteListeners(db: Db): Promise<void> {
  await db.query('delete from event_listeners')
}

/** Makes each insert of the notifications that `condition` is true of wait in the middle of its statement until `release`. */
export async function holdNotifications(db: Pool, condition: string) {
  const client = await db.connect()
  await client.query('select pg_advisory_lock(1)')
  await client.query(`
    create function hold() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1);
      return new;
    end $$;
    create trigger hold before insert on notifications for each row when (${condition}) execute function hold()`)
  return {
    /** Resolves once an insert waits. */
    reached: () => waitedFor(db, client),
    release: async () => {
      await client.query('select pg_advisory_unlock(1)')
      client.release()
    },
  }
}

/** The sources of all listeners. */
export async function listListenerSources(db: Db): Promise<string[]> {
  return (await db.query<{ source: string }>('select source from event_listeners')).rows.map(({ source }) => source)
}

/** The id of the audit entry with this index in the order of ids. */
export async function readAuditEntryId(db: Db, index: number): Promise<string> {
  const { rows } = await db.query<{ id: string }>('select id from audit_entries order by id offset $1 limit 1', [index])
  if (!rows[0]) throw new Error(`There are no ${index} audit entries`)
  return rows[0].id
}

/** The lists of audit entries of the deliveries of notifications in the queue. */
export async function readDeliveredEntries(db: Db): Promise<string[][]> {
  const statement = `select data -> 'payload' -> 'entryIds' as entry_ids from pgboss.job where name = 'notifications.deliver'`
  return (await db.query<{ entry_ids: string[] }>(statement)).rows.map(({ entry_ids }) => entry_ids)
}

/** The subscribers' jobs of deliveries in the queue, with the ids of their events in order. */
export async function readDeliveries(db: Db): Promise<{ job: string; entryIds: string[]; listenerIds: string[]; cause: object }[]> {
  const { rows } = await db.query(
    `select name as job, data -> 'payload' -> 'entryIds' as "entryIds", data -> 'payload' -> 'listenerIds' as "listenerIds", data -> 'cause' as cause
     from pgboss.job where name = 'notifications.deliver' order by id`,
  )
  return rows
}

/** The number of events without a number. */
export async function countInbox(db: Db): Promise<number> {
  return (await db.query<{ count: number }>('select count(*)::integer as count from event_inbox')).rows[0]?.count ?? 0
}

/** The ids of a workspace's numbered events, and their numbers. */
export async function readEvents(db: Db, workspaceId: string): Promise<{ seq: number; id: string; type: string }[]> {
  const { rows } = await db.query('select seq::integer as seq, id, type from events where workspace_id = $1 order by seq', [workspaceId])
  return rows
}

/** The numbers of a workspace's events without a number, of its waiting deliveries, and of its deliveries in the queue. */
export async function readBacklog(db: Db, workspaceId: string): Promise<{ inbox: number; waiting: number; queue: number }> {
  const { rows } = await db.query<{ inbox: number; waiting: number; queue: number }>(
    `select (select count(*)::integer from event_inbox where workspace_id = $1::uuid) as inbox,
       (select count(*)::integer from waiting_deliveries where workspace_id = $1::uuid) as waiting,
       (select count(*)::integer from pgboss.job where name = 'notifications.deliver' and group_id = $1::text) as queue`,
    [workspaceId],
  )
  return rows[0] ?? { inbox: 0, waiting: 0, queue: 0 }
}

/** Makes the queue refuse deliveries of notifications, those of which `condition` is true, until the returned function is called. */
export async function refuseDeliveries(db: Db, condition = 'true'): Promise<() => Promise<unknown>> {
  await db.query(`create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before insert on pgboss.job_common for each row
      when (new.name = 'notifications.deliver' and ${condition}) execute function refuse()`)
  return () => db.query('drop trigger refuse on pgboss.job_common')
}

/** Deletes the first events of a workspace's list. */
export async function deleteEventsUpTo(db: Db, workspaceId: string, seq: number): Promise<void> {
  await db.query('delete from events where workspace_id = $1 and seq <= $2', [workspaceId, seq])
}

/** Announces the creation of a record as a process of the previous release does, and returns the id of the event. */
export async function announceAsBefore(db: Db, workspaceId: string): Promise<string> {
  const { rows } = await db.query<{ entry: string }>(
    `insert into event_outbox (workspace_id, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause)
     select $1::uuid, 'locations', 'created', array[uuidv7()], array[uuidv7()], null, jsonb_object_agg(subscriber, ids),
       '{"actorId": null, "actorType": "system", "requestId": "before", "depth": 0}'::jsonb
     from (
       select subscriber, jsonb_agg(listener_id order by listener_id) as ids from event_listeners
       where workspace_id = $1::uuid and source = 'records' and object_type = 'locations' and event = 'created' group by subscriber
     ) as subscribed
     having count(*) > 0
     returning entry_ids[1] as entry`,
    [workspaceId],
  )
  return rows[0]?.entry ?? ''
}

/** Takes the waiting deliveries of notifications as a process of the previous release does. */
export async function takeAsBefore(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ entry: string }>(
    `select entry_ids[1] as entry from (
       select id, workspace_id, source, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause
       from take_dispatches('{notifications}', array[$1::uuid], 500) order by id
     ) as taken`,
    [workspaceId],
  )
  return rows.map(({ entry }) => entry)
}

/** Adds an event to a workspace in a transaction that stays open until the returned function is called. */
export async function addEventLater(t: Pick<ExecutionContext, 'teardown'>, db: Pool, workspaceId: string): Promise<() => Promise<unknown>> {
  const client = await db.connect()
  t.teardown(() => client.release(true))
  await client.query('begin')
  await addEvents(client, workspaceId, 1)
  return () => client.query('commit')
}
