import { sql } from '#shared/platform/db/statements/statement.ts'

/** A stored event. `link_id` is the link that it was applied to; null before. */
export interface StoredEvent {
  readonly event_key: string
  readonly source: 'webhook' | 'sweep'
  readonly body: Buffer
  readonly link_id: string | null
}

/**
 * Stores an event once per key and returns the key; no row when the key is already stored. A key that was not signed may be a wrong one: if
 * an event with another body is stored under it, this event is stored under the key of its body. Values: workspace, connection, key,
 * source, body, digest of the body, time, provider's link, key of the body, whether the key was signed.
 */
export const insertEvent = sql(
  'insert_payment_event',
  `with chosen as (
     select case when exists (
       select from payment_events where workspace_id = $1 and connection_id = $2 and event_key = $3 and body_hash <> $6
     ) and not $10::boolean then $9 else $3 end as event_key
   )
   insert into payment_events (workspace_id, connection_id, event_key, source, body, body_hash, received_at, provider_link_id)
   select $1, $2, chosen.event_key, $4, $5, $6, $7, $8 from chosen
   on conflict (workspace_id, connection_id, event_key) do nothing
   returning event_key`,
)

/** Reads an event and locks it until the transaction ends. Values: workspace, connection, key. */
export const lockEvent = sql(
  'lock_payment_event',
  `select event_key, source, body, link_id from payment_events
   where workspace_id = $1 and connection_id = $2 and event_key = $3 for update`,
)

/** Saves the link that an event was applied to. Values: workspace, connection, key, link. */
export const saveEventLink = sql(
  'note_payment_event_link',
  'update payment_events set link_id = $4 where workspace_id = $1 and connection_id = $2 and event_key = $3',
)

/** Keys of the first 100 events that name a provider's link and were not applied. Values: workspace, connection, provider's link. */
export const findEarlyEvents = sql(
  'find_early_payment_events',
  `select event_key from payment_events
   where workspace_id = $1 and connection_id = $2 and provider_link_id = $3 and link_id is null order by received_at, event_key limit 100`,
)
