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

/** Adds one dispatch each of as many workspaces. */
export async function addForeignDispatches(db: Db, count: number): Promise<void> {
  await db.query(
    `insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
     select uuidv7(), 'locations', 'created', array[uuidv7()], '{"notifications": ["01a1fdd7-bd07-7f9b-9a68-4e70ec8fc5b4"]}',
       '{"actorId": null, "actorType": "system", "requestId": "many", "depth": 0}'
     from generate_series(1, $1)`,
    [count],
  )
}

/** Adds a subscriber that this release does not know to a dispatch. */
export async function addUnknownListener(db: Db, dispatchId: string, subscriber: string): Promise<void> {
  await db.query(`update event_outbox set listeners = listeners || jsonb_build_object($2::text, '[]'::jsonb) where id = $1`, [
    dispatchId,
    subscriber,
  ])
}

/** Copies every dispatch so many times. */
export async function copyDispatches(db: Db, times: number): Promise<void> {
  await db.query(
    `insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
     select workspace_id, object_type, event, entry_ids, listeners, cause from event_outbox, generate_series(1, $1)`,
    [times],
  )
}

/** The number of pairs of a person and a record that were notified. */
export async function countNotified(db: Db): Promise<number> {
  const statement = 'select count(distinct (user_id, record_id))::integer as count from notifications'
  return (await db.query<{ count: number }>(statement)).rows[0]?.count ?? 0
}

/** Removes every dispatch, and the deliveries of notifications. */
export async function deleteDeliveries(db: Db): Promise<void> {
  await db.query(`truncate event_outbox; delete from pgboss.job where name = 'notifications.deliver'`)
}

/** Removes every dispatch. */
export async function deleteDispatches(db: Db): Promise<void> {
  await db.query('delete from event_outbox')
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

/** A dispatch as it is stored. */
export interface StoredDispatch {
  readonly id: string
  readonly workspace_id: string
  readonly object_type: string
  readonly event: string
  readonly entry_ids: readonly string[]
  readonly listeners: Readonly<Record<string, readonly string[]>>
  readonly cause: object
}

/** All dispatches in the order of their ids. */
export async function readDispatches(db: Db): Promise<StoredDispatch[]> {
  return (await db.query<StoredDispatch>('select * from event_outbox order by id')).rows
}

/** The numbers of a workspace's changes that wait in the outbox, and of its deliveries in the queue. */
export async function readBacklog(db: Db, workspaceId: string): Promise<{ outbox: number; queue: number }> {
  const { rows } = await db.query<{ outbox: number; queue: number }>(
    `select (select count(*)::integer from event_outbox where workspace_id = $1::uuid) as outbox,
       (select count(*)::integer from pgboss.job where name = 'notifications.deliver' and group_id = $1::text) as queue`,
    [workspaceId],
  )
  return rows[0] ?? { outbox: 0, queue: 0 }
}

/** Makes the queue refuse deliveries of notifications until the returned function is called. */
export async function refuseDeliveries(db: Db): Promise<() => Promise<unknown>> {
  await db.query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before insert on pgboss.job_common for each row when (new.name = 'notifications.deliver') execute function refuse()`)
  return () => db.query('drop trigger refuse on pgboss.job_common')
}
