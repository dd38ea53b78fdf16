import type { Pipeline } from '#bench/data/pipeline.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { inboxSignal, signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'

/**
 * Writes this many changes into the inbox for listeners to new records of a type, each as the event of a single creation, and wakes the
 * numbering. Reuses records in rotation if the type has fewer.
 */
export async function putChanges(db: Executor, { workspaceId, key }: Pick<Pipeline, 'workspaceId' | 'key'>, count: number): Promise<void> {
  await db.query({
    text: `with entries as materialized (
        select id, record_id, row_number() over (order by id) as number from audit_entries
        where workspace_id = $1 and object_type = $2 and action = 'record.created' limit $3::int
      ),
      turns as (select n as place, 1 + n % (select count(*) from entries) as number from generate_series(0, $3::int - 1) as n)
      insert into event_inbox (workspace_id, event_id, type, topic, subject_id, created_at, updated_at, cause)
      select $1::uuid, entries.id, 'records.created', $2, record_id, now(), now(), $4::jsonb || jsonb_build_object('requestId', 'bench ' || place)
      from turns join entries using (number)`,
    values: [workspaceId, key, count, JSON.stringify(platformCause('bench'))],
  })
  await db.query({ text: 'select pg_notify($1, $2)', values: [signalChannels.filled, inboxSignal] })
}

/** Deletes delivered notifications, so that delivering them again is the same work. */
export async function forgetNotifications(db: Executor, { workspaceId }: Pick<Pipeline, 'workspaceId'>): Promise<void> {
  await db.query({ text: 'delete from event_inbox where workspace_id = $1', values: [workspaceId] })
  await db.query({ text: 'delete from notifications where workspace_id = $1', values: [workspaceId] })
}
