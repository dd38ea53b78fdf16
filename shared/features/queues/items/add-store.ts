import { historyEntrySql, insertHistorySql, updateCountsSql } from '#shared/features/queues/store.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  queue_items_stage: ['VALIDATION_ERROR', 'The queue was changed meanwhile and has the stage no more'],
  queue_stages_workspace_id_queue_id_fkey: ['NOT_FOUND', 'Not found'],
})

/**
 * Adds items whose keys are not open yet. With $5 it adds all items, so that several open items may have one key (`twin`). Of several sent
 * items with the same key only the first is added. An item is not added when the record change that it comes from (`event_id`) has added an
 * item before. Values: workspace, queue, items as JSON with their position `ord`, source, $5 whether duplicate keys are allowed, time,
 * actor, actor type, and for a scan its verdict, id, time and station. Returns for each sent item the open item with its key; its id is
 * null when there was none and none was added: a concurrent transaction has added the key, or the record change has added an item before.
 */
export const insertItems = sql(
  'add_queue_items',
  `with sent as materialized (
     select ord, key, stage, status, batch, priority, record_id, assignee_id, payload, event_id, note, uuidv7() as id
     from (
       select * from json_to_recordset($3::text::json) as sent (ord integer, key text, stage text, status text, batch text,
         priority integer, record_id uuid, assignee_id text, payload json, event_id uuid, note text)
       order by ord
     ) as sent
   ),
   held as materialized (
     select distinct on (item.key) item.key, item.id, item.stage, item.status
     from queue_items as item
     where item.workspace_id = $1 and item.queue_id = $2 and item.status = 'open' and item.key = any(array(select key from sent))
       and not $5::boolean
     order by item.key, item.id
   ),
   fresh as (
     select distinct on (case when $5 then id::text else key end) *
     from sent
     where not exists (select from held where held.key = sent.key)
       and not exists (
         select from queue_history as known
         where known.workspace_id = $1 and known.queue_id = $2 and known.event_id = sent.event_id and known.kind = 'added'
       )
     order by case when $5 then id::text else key end, ord
   ),
   inserted as (
     insert into queue_items (workspace_id, queue_id, id, key, stage, status, priority, source, batch, record_id, payload, assignee_id,
       entered_stage_at, created_at, closed_at, twin)
     select $1, $2, id, key, stage, status, priority, $4, batch, record_id, payload, assignee_id, $6, $6,
       case when status = 'open' then null else $6::timestamptz end, case when $5 then id else $2 end
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
       verdict: '$9::text',
       scan_id: '$10::text',
       scanned_at: '$11::timestamptz',
       station: '$12::text',
       actor_id: '$7::uuid',
       actor_type: '$8::text',
       note: 'sent.note',
       created_at: '$6::timestamptz',
       version: '1',
       facts: `jsonb_build_object('stage', inserted.stage, 'status', inserted.status, 'priority', inserted.priority, 'batch', inserted.batch,
         'record_id', inserted.record_id, 'assignee_id', inserted.assignee_id, 'payload', md5(inserted.payload::text), 'due_at', null,
         'claimed_by', null)`,
       event_id: 'sent.event_id',
     })}
     from inserted join sent using (id) order by sent.ord`)}
   ),
   counted as (${updateCountsSql(`select batch, stage, status, $4::text = 'scan' as unexpected, 1 as items from inserted`)})
   select sent.ord, sent.key, coalesce(inserted.id, held.id) as id, coalesce(inserted.stage, held.stage) as stage,
     coalesce(inserted.status, held.status) as status, inserted.id is not distinct from sent.id as created
   from sent
   left join held on held.key = sent.key
   left join inserted on case when $5 then inserted.id = sent.id else inserted.key = sent.key end
   order by sent.ord`,
)

/** The oldest open item of each key. Values: workspace, queue, keys. */
export const findOpenItems = sql(
  'find_open_queue_items',
  `select distinct on (key) key, id, stage, status from queue_items
   where workspace_id = $1 and queue_id = $2 and key = any($3::text[]) and status = 'open'
   order by key, id`,
)
