import { sql } from '#shared/platform/db/statements/statement.ts'

/** An event as it is kept. */
export interface StoredEvent {
  readonly event_key: string
  readonly source: 'webhook' | 'sweep'
  readonly body: Buffer
  readonly link_id: string | null
}

/**
 * Writes an event down, once for its key. A key that was not signed may be another event's: one with another body is kept under the digest of
 * that. Gives the key when it is new. Values: workspace, connection, key, source, body, digest, time, provider's link, key of the body,
 * whether the key was signed.
 */
export const insertEvent = sql(
  'insert_payment_event',
  `with told as (
     select case when exists (
       select from payment_events where workspace_id = $1 and connection_id = $2 and event_key = $3 and body_hash <> $6
     ) and not $10::boolean then $9 else $3 end as event_key
   )
   insert into payment_events (workspace_id, connection_id, event_key, source, body, body_hash, received_at, provider_link_id)
   select $1, $2, told.event_key, $4, $5, $6, $7, $8 from told
   on conflict (workspace_id, connection_id, event_key) do nothing
   returning event_key`,
)

/** An event, which nobody else acts on until the transaction ends. Values: workspace, connection, key. */
export const lockEvent = sql(
  'lock_payment_event',
  `select event_key, source, body, link_id from payment_events
   where workspace_id = $1 and connection_id = $2 and event_key = $3 for update`,
)

/** Notes the link that an event was acted on for. Values: workspace, connection, key, link. */
export const saveEventLink = sql(
  'note_payment_event_link',
  'update payment_events set link_id = $4 where workspace_id = $1 and connection_id = $2 and event_key = $3',
)

/** Events that came before their link was known by its provider's id. Values: workspace, connection, provider's link. */
export const findEarlyEvents = sql(
  'find_early_payment_events',
  `select event_key from payment_events
   where workspace_id = $1 and connection_id = $2 and provider_link_id = $3 and link_id is null order by received_at, event_key limit 100`,
)
