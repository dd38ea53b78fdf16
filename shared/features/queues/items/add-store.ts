import { closedEvent, insertItemEvents, itemEvent, itemEventParams } from '#shared/features/queues/events/store.ts'
import type { ItemSource, ItemStatus, ScanVerdict } from '#shared/features/queues/items/schemas.ts'
import { entryByActor, entryOfScan, historyEntrySql, insertHistorySql, updateCountsSql } from '#shared/features/queues/store.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { boolean, instant, integer, type RowOf, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  queue_items_stage: ['VALIDATION_ERROR', 'The queue was changed meanwhile and has the stage no more'],
  queue_stages_workspace_id_queue_id_fkey: ['NOT_FOUND', 'Not found'],
})

const insertedColumns = {
  ord: integer.notNull,
  key: text.notNull,
  id: uuid,
  stage: text,
  status: text.as<ItemStatus>(),
  /** Whether the item was added. */
  created: boolean.notNull,
}

/** The open item with the key of a sent item. Id, stage and status are null when there was none and none was added. */
export type InsertedRow = RowOf<typeof insertedColumns>

/**
 * Adds items whose keys are not open yet. With `allowsDuplicates` it adds all items, so that several open items may have one key (`twin`). Of
 * several sent items with the same key only the first is added. An item is not added when the record change that it comes from (`event_id`)
 * has added an item before. Returns for each sent item the open item with its key; its id is null when there was none and none was added: a
 * concurrent transaction has added the key, or the record change has added an item before.
 */
export const insertItems = statement(
  'queues.insertItems',
  `with sent as materialized (
     select ord, key, stage, status, batch, priority, record_id, assignee_id, payload, event_id, note, uuidv7() as id
     from (
       select * from json_to_recordset($items::text::json) as sent (ord integer, key text, stage text, status text, batch text,
         priority integer, record_id uuid, assignee_id text, payload json, event_id uuid, note text)
       order by ord
     ) as sent
   ),
   held as materialized (
     select distinct on (item.key) item.key, item.id, item.stage, item.status
     from queue_items as item
     where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.status = 'open'
       and item.key = any(array(select key from sent)) and not $allowsDuplicates::boolean
     order by item.key, item.id
   ),
   fresh as (
     select distinct on (case when $allowsDuplicates then id::text else key end) *
     from sent
     where not exists (select from held where held.key = sent.key)
       and not exists (
         select from queue_history as known
         where known.workspace_id = $workspaceId and known.queue_id = $queueId and known.event_id = sent.event_id and known.kind = 'added'
       )
     order by case when $allowsDuplicates then id::text else key end, ord
   ),
   inserted as (
     insert into queue_items (workspace_id, queue_id, id, key, stage, status, priority, source, batch, record_id, payload, assignee_id,
       entered_stage_at, created_at, closed_at, twin)
     select $workspaceId, $queueId, id, key, stage, status, priority, $source, batch, record_id, payload, assignee_id, $now, $now,
       case when status = 'open' then null else $now::timestamptz end, case when $allowsDuplicates then id else $queueId end
     from fresh order by key
     on conflict (workspace_id, queue_id, key, twin) where status = 'open' do nothing
     returning id, key, stage, status, priority, batch, record_id, payload, assignee_id
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       item_id: 'inserted.id',
       key: 'inserted.key',
       kind: `'added'`,
       to_stage: 'inserted.stage',
       status: 'inserted.status',
       ...entryOfScan,
       ...entryByActor,
       note: 'sent.note',
       version: '1',
       facts: `jsonb_build_object('stage', inserted.stage, 'status', inserted.status, 'priority', inserted.priority, 'batch', inserted.batch,
         'record_id', inserted.record_id, 'assignee_id', inserted.assignee_id, 'payload', md5(inserted.payload::text), 'due_at', null,
         'claimed_by', null)`,
       event_id: 'sent.event_id',
     })}
     from inserted join sent using (id) order by sent.ord`)}
   ),
   counted as (${updateCountsSql(`select batch, stage, status, $source::text = 'scan' as unexpected, 1 as items from inserted`)}),
   announced as (${insertItemEvents(`
     select ${itemEvent(
       'added',
       'inserted',
       { stage: 'inserted.stage', status: 'inserted.status', priority: 'inserted.priority', source: '$source::text' },
       'sent.ord * 2',
     )} from inserted join sent using (id)
     union all
     select ${closedEvent('inserted', 'inserted.status', 'sent.ord * 2 + 1')} from inserted join sent using (id)
     where inserted.status <> 'open'`)}
   )
   select sent.ord, sent.key, coalesce(inserted.id, held.id) as id, coalesce(inserted.stage, held.stage) as stage,
     coalesce(inserted.status, held.status) as status, inserted.id is not distinct from sent.id as created
   from sent
   left join held on held.key = sent.key
   left join inserted on case when $allowsDuplicates then inserted.id = sent.id else inserted.key = sent.key end
   order by sent.ord`,
  {
    params: {
      workspaceId: uuid,
      queueId: uuid,
      /** The items with their position `ord`, as JSON text. */
      items: text,
      source: text.as<ItemSource>(),
      allowsDuplicates: boolean,
      now: instant,
      actorId: uuid.orNull,
      actorType: text,
      /** Null, like the next three, for items that no scan adds. */
      verdict: text.as<ScanVerdict>().orNull,
      scanId: text.orNull,
      scannedAt: instant.orNull,
      station: text.orNull,
      ...itemEventParams,
    },
    columns: insertedColumns,
  },
)

/** The oldest open item of each key. */
export const findOpenItems = statement(
  'queues.findOpenItems',
  `select distinct on (key) key, id, stage, status from queue_items
   where workspace_id = $workspaceId and queue_id = $queueId and key = any($keys::text[]) and status = 'open'
   order by key, id`,
  {
    params: { workspaceId: uuid, queueId: uuid, keys: texts },
    columns: { key: text.notNull, id: uuid.notNull, stage: text.notNull, status: text.as<ItemStatus>().notNull },
  },
)
