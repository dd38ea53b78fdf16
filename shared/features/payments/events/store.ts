import { sql } from '#shared/platform/db/statements/statement.ts'

/** An event as it is stored. */
export interface StoredEvent {
  readonly event_key: string
  readonly source: 'webhook' | 'sweep'
  readonly body: Buffer
  readonly link_id: string | null
}

/**
 * Stores an event under its key and returns the key; no row when that key is taken. An id that the signature does not cover may be forged
 * or reused: with another body than the stored one, the event gets the key made of its body's hash. Values: workspace, connection, key,
 * source, body, hash of the body, time, provider's link id, key made of the hash, whether the signature covers the id.
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

/** Reads an event and locks its row until the transaction ends. Values: workspace, connection, key. */
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

/**
 * Unapplied events that name a link by its provider's id, at most 100: they arrived before that id was saved. Values: workspace,
 * connection, provider's link id.
 */
export const findEarlyEvents = sql(
  'find_early_payment_events',
  `select event_key from payment_events
   where workspace_id = $1 and connection_id = $2 and provider_link_id = $3 and link_id is null order by received_at, event_key limit 100`,
)
