import { boolean, bytes, instant, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

type EventSource = 'webhook' | 'sweep'

/**
 * Stores an event once per key and returns the key; no row when the key is already stored. A key that was not signed may be a wrong one: if
 * an event with another body is stored under it, this event is stored under the key of its body.
 */
export const insertEvent = statement(
  'payments.insertEvent',
  `with chosen as (
     select case when exists (
       select from payment_events
       where workspace_id = $workspaceId and connection_id = $connectionId and event_key = $eventKey and body_hash <> $bodyHash
     ) and not $isKeySigned::boolean then $bodyKey else $eventKey end as event_key
   )
   insert into payment_events (workspace_id, connection_id, event_key, source, body, body_hash, received_at, provider_link_id)
   select $workspaceId, $connectionId, chosen.event_key, $source, $body, $bodyHash, $receivedAt, $providerLinkId from chosen
   on conflict (workspace_id, connection_id, event_key) do nothing
   returning event_key`,
  {
    params: {
      workspaceId: uuid,
      connectionId: uuid,
      eventKey: text,
      isKeySigned: boolean,
      /** The key of the body, for a wrong `eventKey`. */
      bodyKey: text,
      source: text.as<EventSource>(),
      body: bytes,
      bodyHash: bytes,
      receivedAt: instant,
      providerLinkId: text.orNull,
    },
    columns: { event_key: text.notNull },
  },
)

const columns = {
  event_key: text.notNull,
  source: text.as<EventSource>().notNull,
  body: bytes.notNull,
  /** The link that the event was applied to; null before. */
  link_id: uuid,
}

/** Reads an event and locks it until the transaction ends. */
export const lockEvent = statement(
  'payments.lockEvent',
  `select ${selectList(columns)} from payment_events
   where workspace_id = $workspaceId and connection_id = $connectionId and event_key = $eventKey for update`,
  { params: { workspaceId: uuid, connectionId: uuid, eventKey: text }, columns },
)

/** Saves the link that an event was applied to. */
export const saveEventLink = statement(
  'payments.saveEventLink',
  `update payment_events set link_id = $linkId
   where workspace_id = $workspaceId and connection_id = $connectionId and event_key = $eventKey`,
  { params: { workspaceId: uuid, connectionId: uuid, eventKey: text, linkId: uuid } },
)

/** Keys of the first 100 events that name a provider's link and were not applied. */
export const findEarlyEvents = statement(
  'payments.findEarlyEvents',
  `select event_key from payment_events
   where workspace_id = $workspaceId and connection_id = $connectionId and provider_link_id = $providerLinkId and link_id is null
   order by received_at, event_key limit 100`,
  { params: { workspaceId: uuid, connectionId: uuid, providerLinkId: text }, columns: { event_key: text.notNull } },
)
