import { closedEvent, insertItemEvents, itemEvent, itemEventParams } from '#shared/features/queues/events/store.ts'
import type { ItemStatus, ScanVerdict } from '#shared/features/queues/items/schemas.ts'
import {
  entryByActor,
  entryOfItem,
  entryOfScan,
  historyEntrySql,
  insertHistorySql,
  itemColumns,
  itemColumnsOf,
  previousClaimColumns,
  updateCountsSql,
} from '#shared/features/queues/store.ts'
import { boolean, instant, integer, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Why an item did not change. */
export type ItemRefusal = 'closed' | 'stale' | 'lost'

/** Why an item did not move. `changed`: another transaction changed it after it was read. */
export type MoveRefusal = ItemRefusal | 'changed' | 'from' | 'full'

/** Reads and locks the item that a statement changes. */
const target =
  'select item.* from queue_items as item where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = $id for update'

/**
 * A column of the claim that the change ends without the claim's token; null when the change ends no such claim (`judged.interrupts` is
 * false) or is refused.
 */
const ofClaim = (name: string, column: string): string =>
  `case when judged.interrupts and judged.refusal is null then ${column} end as ${name}`

/** The claim that the change ends without its token, for the history entry. */
const claimEntry = {
  previous_claimer_id: 'case when judged.interrupts then judged.claimed_by end',
  previous_claim_until: 'case when judged.interrupts then judged.claim_expires_at end',
}

const changedColumns = { ...previousClaimColumns, ...itemColumns }

/** Selects the refusal, the claim that the change ended without its token, and the item as it is after the statement. */
const outcome = (changed: string, extra = ''): string =>
  `select judged.refusal${extra}, ${ofClaim('previous_claimer_id', 'judged.claimed_by')}, ${ofClaim('previous_claim_until', 'judged.claim_expires_at')},
     final.* from judged,
     lateral (select ${itemColumnsOf(changed)} from ${changed} union all select ${itemColumnsOf('judged')} where judged.refusal is not null) as final`

/**
 * Moves an item, unless the move is refused (`MoveRefusal`): the item's version is not the expected one, the item is closed, the token's
 * claim has ended, the caller's claim expired and another caller has claimed the item, the target stage does not accept items from the
 * item's stage, or the target stage has as many open items as its wip limit. With a wip limit, the target stage must be locked before.
 * Returns no row for an unknown item.
 */
export const updateItemStage = statement(
  'queues.updateItemStage',
  `with target as materialized (${target}),
   judged as materialized (
     select target.*, $claimToken::text is null and claimed_by is not null and claim_expires_at > $now::timestamptz as interrupts, case
       when version <> $expectedVersion::integer then 'changed'
       when status <> 'open' then 'closed'
       when $claimToken::text is not null and (claim_token is distinct from $claimToken or claim_expires_at <= $now::timestamptz)
         then 'stale'
       when $claimToken is null and $actorId::uuid = any(lapsed) and claimed_by <> $actorId and claim_expires_at > $now then 'lost'
       when not stage = any($fromStages::text[]) then 'from'
       when $wipLimit::integer > 0 and (
         select count(*) from (
           select from queue_items as other
           where other.workspace_id = $workspaceId and other.queue_id = $queueId and other.stage = $stage and other.status = 'open'
             and other.id <> $id
           limit $wipLimit
         ) as inside
       ) >= $wipLimit then 'full'
     end as refusal
     from target
   ),
   moved as (
     update queue_items as item
     set stage = $stage, status = $status, entered_stage_at = $now, closed_at = case when $status = 'open' then null else $now end,
       claimed_by = null, claim_token = null, claim_expires_at = null, lapsed = '{}', version = item.version + 1
     from judged
     where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = judged.id and judged.refusal is null
     returning item.*
   ),
   written as (${insertHistorySql(
     `select ${historyEntrySql({
       ...entryOfItem('moved'),
       ...entryOfScan,
       ...entryByActor,
       kind: '$kind::text',
       from_stage: 'judged.stage',
       payload: '$payload::text::json',
       note: '$note::text',
       version: 'moved.version',
       facts: `jsonb_build_object('stage', moved.stage, 'status', moved.status, 'claimed_by', null)`,
       ...claimEntry,
     })}
     from moved join judged using (id)`,
     'coalesce($entryId::uuid, uuidv7())',
   )}
   ),
   counted as (${updateCountsSql(`
     select judged.batch, judged.stage, judged.status, judged.source = 'scan' as unexpected, -1 as items from judged join moved using (id)
     union all
     select batch, stage, status, source = 'scan', 1 from moved`)}
   ),
   announced as (${insertItemEvents(`
     select ${itemEvent(
       'moved',
       'moved',
       { from_stage: 'judged.stage', to_stage: 'moved.stage', status: 'moved.status' },
       '1',
     )} from moved join judged using (id) where $kind::text = 'moved'
     union all
     select ${closedEvent('moved', 'moved.status', '2')} from moved where moved.status <> 'open'`)}
   )
   ${outcome('moved', ', judged.stage as from_stage')}`,
  {
    params: {
      workspaceId: uuid,
      queueId: uuid,
      id: uuid,
      /** The id of the history entry, where something has named it before; else null. */
      entryId: uuid.orNull,
      /** The target stage. */
      stage: text,
      status: text.as<ItemStatus>(),
      now: instant,
      actorId: uuid.orNull,
      actorType: text,
      note: text,
      /** Stages from which the item may come; null for any. */
      fromStages: texts.orNull,
      /** 0 for no limit. */
      wipLimit: integer,
      claimToken: text.orNull,
      expectedVersion: integer.orNull,
      /** Of the history entry. */
      kind: text.as<'moved' | 'cancelled'>(),
      /** Null, like the next four, for a move without a scan. */
      verdict: text.as<ScanVerdict>().orNull,
      /** JSON text. */
      payload: text.orNull,
      scanId: text.orNull,
      scannedAt: instant.orNull,
      station: text.orNull,
      ...itemEventParams,
    },
    columns: { refusal: text.as<MoveRefusal>(), from_stage: text.notNull, ...changedColumns },
  },
)

/** An id for the history entry of a move, for what the move changes before. */
export const drawEntryId = statement('queues.drawEntryId', 'select uuidv7() as id', { params: {}, columns: { id: uuid.notNull } })

/** Changes an item without moving it, and may end its claim. A null for a column leaves it unchanged. */
export const updateItem = statement(
  'queues.updateItem',
  `with target as materialized (${target}),
   judged as materialized (
     select target.*, $release::boolean and claimed_by is not null as releases,
       $release::boolean and $claimToken::text is null and claimed_by is not null and claim_expires_at > $now::timestamptz as interrupts,
       case
       when status <> 'open' then 'closed'
       when $claimToken::text is not null and (claim_token is distinct from $claimToken or claim_expires_at <= $now::timestamptz)
         then 'stale'
       when $release and $claimToken is null and $actorId::uuid = any(lapsed) and claimed_by <> $actorId and claim_expires_at > $now then 'lost'
     end as refusal
     from target
   ),
   edited as (
     update queue_items as item
     set priority = coalesce($priority::integer, item.priority), batch = coalesce($batch::text, item.batch),
       assignee_id = coalesce($assigneeId::text, item.assignee_id),
       due_at = case when $changesDueAt::boolean then $dueAt::timestamptz else item.due_at end,
       payload = coalesce($payload::text::json, item.payload), claimed_by = case when not judged.releases then item.claimed_by end,
       claim_token = case when not judged.releases then item.claim_token end,
       claim_expires_at = case when not judged.releases then item.claim_expires_at end,
       version = item.version + judged.releases::integer + $isEdit::boolean::integer
     from judged
     where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = judged.id and judged.refusal is null
     returning item.*
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       ...entryOfItem('edited'),
       ...entryByActor,
       kind: `'released'`,
       note: `case when $isEdit then '' else $note::text end`,
       version: 'judged.version + 1',
       facts: `jsonb_build_object('claimed_by', null)`,
       ...claimEntry,
     })} from edited join judged using (id) where judged.releases
     union all
     select ${historyEntrySql({
       ...entryOfItem('edited'),
       ...entryByActor,
       kind: `'edited'`,
       note: '$note::text',
       version: 'edited.version',
       facts: `(
         case when $priority is null then '{}' else jsonb_build_object('priority', edited.priority) end
         || case when $batch is null then '{}' else jsonb_build_object('batch', edited.batch) end
         || case when $assigneeId is null then '{}' else jsonb_build_object('assignee_id', edited.assignee_id) end
         || case when $changesDueAt then jsonb_build_object('due_at', edited.due_at) else '{}' end
         || case when $payload is null then '{}' else jsonb_build_object('payload', md5(edited.payload::text)) end
       )`,
     })} from edited where $isEdit`)}
   ),
   counted as (${updateCountsSql(`
     select judged.batch, judged.stage, judged.status, judged.source = 'scan' as unexpected, -1 as items
     from judged join edited using (id) where judged.batch <> edited.batch
     union all
     select edited.batch, edited.stage, edited.status, edited.source = 'scan', 1
     from judged join edited using (id) where judged.batch <> edited.batch`)}
   )
   ${outcome('edited')}`,
  {
    params: {
      workspaceId: uuid,
      queueId: uuid,
      id: uuid,
      now: instant,
      actorId: uuid.orNull,
      actorType: text,
      note: text,
      claimToken: text.orNull,
      priority: integer.orNull,
      batch: text.orNull,
      assigneeId: text.orNull,
      changesDueAt: boolean,
      dueAt: instant.orNull,
      /** JSON text. */
      payload: text.orNull,
      /** Whether the claim ends. */
      release: boolean,
      /** Whether to write an `edited` history entry. */
      isEdit: boolean,
    },
    columns: { refusal: text.as<ItemRefusal>(), ...changedColumns },
  },
)

/** Deletes an item for good; its history stays. An open one is told as closed. */
export const deleteItem = statement(
  'queues.deleteItem',
  `with gone as (delete from queue_items where workspace_id = $workspaceId and queue_id = $queueId and id = $id returning *),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       item_id: 'gone.id',
       key: 'gone.key',
       kind: `'deleted'`,
       from_stage: 'gone.stage',
       status: 'gone.status',
       ...entryByActor,
       version: 'gone.version + 1',
     })} from gone`)}
   ),
   counted as (${updateCountsSql(`select batch, stage, status, source = 'scan' as unexpected, -1 as items from gone`)}),
   announced as (${insertItemEvents(`select ${closedEvent('gone', `'deleted'`, '1')} from gone where gone.status = 'open'`)})
   select id from gone`,
  {
    params: { workspaceId: uuid, queueId: uuid, id: uuid, now: instant, actorId: uuid.orNull, actorType: text, ...itemEventParams },
    columns: { id: uuid.notNull },
  },
)

/**
 * Inserts a history entry for an event that changed no item: a scan or a pressed button. Returns no row, and inserts nothing, when the entry
 * names an item that was deleted meanwhile or, with `isOpen`, is no longer open in its stage. The lock keeps the item as it is until the entry
 * is committed, so that no entry follows that of its deletion.
 */
export const insertHistoryEntry = statement(
  'queues.insertHistoryEntry',
  `with item as materialized (
     select id from queue_items
     where workspace_id = $workspaceId and queue_id = $queueId and id = $itemId::uuid
       and (not $isOpen::boolean or (status = 'open' and stage = $stage::text))
     for share
   )
   ${insertHistorySql(`
     select ${historyEntrySql({
       item_id: '$itemId::uuid',
       key: '$key::text',
       kind: '$kind::text',
       from_stage: '$stage::text',
       payload: '$payload::text::json',
       ...entryOfScan,
       ...entryByActor,
       note: '$note::text',
     })} where $itemId is null or exists (select from item)`)} returning id`,
  {
    params: {
      workspaceId: uuid,
      queueId: uuid,
      itemId: uuid.orNull,
      /** Whether the item must still be open in `stage`. */
      isOpen: boolean,
      key: text,
      kind: text.as<'button' | 'scanned'>(),
      /** The item's stage. */
      stage: text.orNull,
      verdict: text.as<ScanVerdict>().orNull,
      /** JSON text. */
      payload: text.orNull,
      scanId: text.orNull,
      scannedAt: instant.orNull,
      station: text.orNull,
      now: instant,
      actorId: uuid.orNull,
      actorType: text,
      note: text,
    },
    columns: { id: uuid.notNull },
  },
)
