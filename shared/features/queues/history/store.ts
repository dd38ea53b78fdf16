import { type AccessSql, accessSearch } from '#shared/features/queues/items/item-access-store.ts'
import { previousClaimColumns } from '#shared/features/queues/store.ts'
import { bigint, boolean, instant, integer, json, jsonb, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  item_id: uuid,
  key: text.notNull,
  kind: text.notNull,
  from_stage: text,
  to_stage: text,
  status: text,
  verdict: text,
  payload: json.as<Record<string, unknown>>(),
  scan_id: text,
  scanned_at: instant,
  station: text,
  actor_id: uuid,
  actor_type: text.notNull,
  note: text.notNull,
  created_at: instant.notNull,
  ...previousClaimColumns,
}
const list = selectList(columns)

/**
 * SQL that starts with `and` and limits history entries to those that the caller may see: entries without an item, and entries of items
 * whose record the caller may read. The record is taken from the item's `added` entry, since the item may have been deleted. The text is
 * empty when the caller sees all items. The statement has the parameters `workspaceId` and `queueId`.
 */
export function entryAccessSql(accessSql: AccessSql, entry: string): string {
  const condition = accessSql(`(added.facts ->> 'record_id')::uuid`, 'added.queue_id')
  if (condition === '') return ''
  return ` and (${entry}.item_id is null or exists (
    select from queue_history as added
    where added.workspace_id = $workspaceId and added.queue_id = $queueId and added.item_id = ${entry}.item_id
      and added.kind = 'added'${condition} offset 0
  ))`
}

/** The newest history entries of a queue. */
export const findHistory = accessSearch(
  'queues.findHistory',
  (accessSql) =>
    `select ${list} from queue_history as entry
     where workspace_id = $workspaceId and queue_id = $queueId${entryAccessSql(accessSql, 'entry')}
     order by id desc limit $limit`,
  { params: { workspaceId: uuid, queueId: uuid, limit: bigint }, columns },
)

/** The newest history entries of one item. */
export const findHistoryOfItem = accessSearch(
  'queues.findHistoryOfItem',
  (accessSql) =>
    `select ${list} from queue_history as entry
     where workspace_id = $workspaceId and queue_id = $queueId and item_id = $itemId${entryAccessSql(accessSql, 'entry')}
     order by id desc limit $limit`,
  { params: { workspaceId: uuid, queueId: uuid, itemId: uuid, limit: bigint }, columns },
)

/**
 * Id of the last item in the next batch of a queue's items, which begins after an item, in the order of ids; no row when fewer items are left
 * than a batch has.
 */
export const findItemRangeEnd = statement(
  'queues.findItemRangeEnd',
  `select item_id from queue_history
   where workspace_id = $workspaceId and queue_id = $queueId and item_id > $afterId and kind = 'added'
   order by item_id offset $batchSize::integer - 1 limit 1`,
  { params: { workspaceId: uuid, queueId: uuid, afterId: uuid, batchSize: integer }, columns: { item_id: uuid } },
)

/**
 * Replays the history of the items of a batch and compares the result with their rows, in one snapshot. The `facts` of an entry are the
 * values that it gave the row; the latest value of each field counts. The batch begins after `afterId` and ends with `lastId`. Returns a row
 * for each difference, and one row with totals, whose id and field are null.
 */
export const replayItems = statement(
  'queues.replayItems',
  `with replayed as materialized (
     select entry.item_id as id, max(entry.version) as version, count(entry.version) as entries,
       count(*) filter (where entry.kind = 'added') as added, count(*) filter (where entry.kind = 'deleted') as deleted,
       count(*) filter (where entry.kind = 'claimed') as attempts,
       (select jsonb_object_agg(fact.key, fact.value order by one.version)
        from queue_history as one, jsonb_each(one.facts) as fact
        where one.workspace_id = $workspaceId and one.queue_id = $queueId and one.item_id = entry.item_id and one.version is not null) as facts
     from queue_history as entry
     where entry.workspace_id = $workspaceId and entry.queue_id = $queueId and entry.item_id > $afterId and entry.item_id <= $lastId
     group by entry.item_id
   ),
   held as materialized (
     select id, version, attempts, status, jsonb_build_object('stage', stage, 'status', status, 'priority', priority, 'batch', batch,
       'record_id', record_id, 'assignee_id', assignee_id, 'payload', md5(payload::text), 'due_at', due_at, 'claimed_by', claimed_by) as facts
     from queue_items where workspace_id = $workspaceId and queue_id = $queueId and id > $afterId and id <= $lastId
   ),
   compared as (
     select coalesce(held.id, replayed.id) as id, held.id is not null as is_there, coalesce(replayed.added, 0) = 1 as is_added,
       coalesce(replayed.deleted, 0) as deleted, replayed.entries, replayed.version as last, held.version,
       replayed.attempts as claims, held.attempts, replayed.facts as expected, held.facts as found
     from replayed full join held using (id)
   )
   select null::uuid as id, null::text as field, null::jsonb as expected, null::jsonb as found,
     (select coalesce(sum(added), 0) from replayed)::bigint as added, (select coalesce(sum(deleted), 0) from replayed)::bigint as deleted,
     (select count(*) from held where status = 'open') as open, (select count(*) from held where status <> 'open') as closed
   union all
   select id, field, expected, found, 0, 0, 0, 0 from (
     select id, 'history' as field, to_jsonb('one entry that it was added'::text) as expected, to_jsonb('another number'::text) as found
     from compared where not is_added
     union all
     select id, 'row', to_jsonb(deleted = 0), to_jsonb(is_there) from compared where is_added and (deleted = 0) <> is_there
     union all
     select id, 'version', to_jsonb(last), to_jsonb(coalesce(version, last))
     from compared where is_added and (entries <> last or (is_there and version <> last))
     union all
     select id, 'attempts', to_jsonb(claims), to_jsonb(attempts) from compared where is_added and is_there and claims <> attempts
     union all
     select id, fact.key, fact.value, found -> fact.key
     from compared, jsonb_each(expected) as fact
     where is_added and is_there and found -> fact.key is distinct from fact.value
   ) as differing`,
  {
    params: { workspaceId: uuid, queueId: uuid, afterId: uuid, lastId: uuid },
    columns: {
      id: uuid,
      field: text,
      expected: jsonb,
      found: jsonb,
      added: bigint.notNull,
      deleted: bigint.notNull,
      open: bigint.notNull,
      closed: bigint.notNull,
    },
  },
)

/** The stored counts of a queue that differ from the numbers of its items, at most 1,000. */
export const compareCounts = statement(
  'queues.compareCounts',
  `with counted as (
     select part as batch, stage, status, source = 'scan' as unexpected, count(*) as items
     from queue_items, unnest(case when batch = '' then array[''] else array['', batch] end) as part
     where workspace_id = $workspaceId and queue_id = $queueId
     group by part, stage, status, source = 'scan'
   ),
   kept as (
     select batch, stage, status, unexpected, sum(items)::bigint as items from queue_counts
     where workspace_id = $workspaceId and queue_id = $queueId
     group by batch, stage, status, unexpected having sum(items) <> 0
   )
   select batch, stage, status, unexpected, coalesce(counted.items, 0) as expected, coalesce(kept.items, 0) as found
   from counted full join kept using (batch, stage, status, unexpected)
   where counted.items is distinct from kept.items
   order by batch, stage, status, unexpected limit 1000`,
  {
    params: { workspaceId: uuid, queueId: uuid },
    columns: {
      batch: text.notNull,
      stage: text.notNull,
      status: text.notNull,
      unexpected: boolean.notNull,
      expected: bigint.notNull,
      found: bigint.notNull,
    },
  },
)
