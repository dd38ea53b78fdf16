import { locationsOf } from '#test/core/notifications/make-rule.ts'
import type { World } from '#test/support/world.ts'

/** Adds so many waiting changes of the world's workspace for its rules, as single creations leave them, without a signal. */
export async function flood(w: World, count: number): Promise<void> {
  const { data } = await w.org.owner.post(locationsOf(w), { values: { name: 'flood' } })
  await w.db.query(
    `with entries as (
       insert into audit_entries (workspace_id, actor_type, action, object_type, record_id, request_id)
       select $1, 'system', 'record.created', 'locations', $2, 'flood ' || n from generate_series(1, $3::integer) as n returning id, request_id
     )
     insert into event_inbox (workspace_id, event_id, type, topic, subject_id, created_at, updated_at, cause)
     select $1, id, 'records.created', 'locations', $2, now(), now(),
       jsonb_build_object('actorId', null, 'actorType', 'system', 'requestId', request_id, 'depth', 0)
     from entries`,
    [w.org.id, data.id, count],
  )
}
