import type { Pipeline } from '#bench/data/pipeline.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { outboxSignal } from '#shared/platform/events/announce.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'

/**
 * Writes this many changes into the outbox for listeners to new records of a type, each as the dispatch of a single creation, and wakes the
 * dispatcher. Reuses records in rotation if the type has fewer.
 */
export async function putChanges(db: Executor, { workspaceId, key }: Pick<Pipeline, 'workspaceId' | 'key'>, count: number): Promise<void> {
  await db.query({
    text: `with entries as materialized (
        select id, row_number() over (order by id) as number from audit_entries
        where workspace_id = $1 and object_type = $2 and action = 'record.created' limit $3::int
      ),
      turns as (select 1 + n % (select count(*) from entries) as number from generate_series(0, $3::int - 1) as n)
      insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
      select $1::uuid, $2, 'created', array[entries.id], heard.listeners, $4::jsonb
      from turns join entries using (number)
      cross join (
        select jsonb_object_agg(subscriber, ids) as listeners from (
          select subscriber, jsonb_agg(listener_id) as ids from event_listeners
          where workspace_id = $1 and object_type = $2 and event = 'created' group by subscriber
        ) as by_subscriber
      ) as heard`,
    values: [workspaceId, key, count, JSON.stringify(platformCause('bench'))],
  })
  await db.query({ text: 'select pg_notify($1, $2)', values: [signalChannels.filled, outboxSignal] })
}

/** Deletes delivered notifications, so that delivering them again is the same work. */
export async function forgetNotifications(db: Executor, { workspaceId }: Pick<Pipeline, 'workspaceId'>): Promise<void> {
  await db.query({ text: 'delete from event_outbox where workspace_id = $1', values: [workspaceId] })
  await db.query({ text: 'delete from notifications where workspace_id = $1', values: [workspaceId] })
}
