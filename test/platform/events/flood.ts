import { locationsOf } from '#test/core/notifications/make-rule.ts'
import type { World } from '#test/support/world.ts'

/** Adds so many waiting changes of the world's workspace for its rules, as single creations leave them, without a signal. */
export async function flood(w: World, count: number): Promise<void> {
  const { data } = await w.org.owner.post(locationsOf(w), { values: { name: 'flood' } })
  await w.db.query(
    `with entries as (
       insert into audit_entries (workspace_id, actor_type, action, object_type, record_id, request_id)
       select $1, 'system', 'record.created', 'locations', $2, 'flood' from generate_series(1, $3::integer) returning id
     )
     insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
     select $1, 'locations', 'created', array[entries.id], (
         select jsonb_build_object('notifications', jsonb_agg(listener_id)) from event_listeners where workspace_id = $1 and event = 'created'
       ), '{"actorId": null, "actorType": "system", "requestId": "flood", "depth": 0}'
     from entries`,
    [w.org.id, data.id, count],
  )
}
