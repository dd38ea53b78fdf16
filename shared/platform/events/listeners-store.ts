import { boolean, booleans, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const listenerParams = { workspaceId: uuid, subscriber: text, listenerId: uuid } as const

/** Parameters with one element for each event; `objectTypes` are type keys or topics. */
const eventParams = { sources: texts, objectTypes: texts, events: texts } as const

/**
 * Inserts the events that a listener receives. It receives those that get their inbox id after this; one that it received before goes on
 * without a gap.
 */
export const insertListeners = statement(
  'events.insertListeners',
  `insert into event_listeners as listener (workspace_id, subscriber, listener_id, source, object_type, event, snapshot, keeps)
   select $workspaceId::uuid, $subscriber, $listenerId::uuid, source, object_type, event, bool_or(snapshot), $keeps::text[]
   from unnest($sources::text[], $objectTypes::text[], $events::text[], $wantSnapshots::boolean[])
     as listened (source, object_type, event, snapshot)
   group by source, object_type, event
   on conflict (workspace_id, source, object_type, event, subscriber, listener_id)
     do update set snapshot = excluded.snapshot, keeps = excluded.keeps
     where (listener.snapshot, listener.keeps) is distinct from (excluded.snapshot, excluded.keeps)`,
  { params: { ...listenerParams, ...eventParams, wantSnapshots: booleans, keeps: texts } },
)

/** Deletes the events that a listener receives, but for these. */
export const deleteOtherListeners = statement(
  'events.deleteOtherListeners',
  `delete from event_listeners
   where workspace_id = $workspaceId and subscriber = $subscriber and listener_id = $listenerId
     and (source, object_type, event) not in (select * from unnest($sources::text[], $objectTypes::text[], $events::text[]))`,
  { params: { ...listenerParams, ...eventParams } },
)

/** The distinct events of a source that have listeners. */
export const findListened = statement(
  'events.findListened',
  `select distinct object_type as "objectType", event from event_listeners where workspace_id = $workspaceId and source = $source
   order by "objectType", event`,
  { params: { workspaceId: uuid, source: text }, columns: { objectType: text.notNull, event: text.notNull } },
)

/** The changes of records that have listeners, and whether one of these wants snapshots. */
export const findRecordListeners = statement(
  'events.findRecordListeners',
  `select object_type as "objectType", event, bool_or(snapshot) as snapshot from event_listeners
   where workspace_id = $workspaceId and source = 'records' group by object_type, event`,
  { params: { workspaceId: uuid }, columns: { objectType: text.notNull, event: text.notNull, snapshot: boolean.notNull } },
)

/** The keys of the fields that listeners test. */
export const findListenersKeys = statement(
  'events.findListenersKeys',
  'select distinct unnest(keeps) as key from event_listeners where workspace_id = $workspaceId order by key',
  { params: { workspaceId: uuid }, columns: { key: text.notNull } },
)
