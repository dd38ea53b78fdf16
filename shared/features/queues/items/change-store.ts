import { historyEntrySql, insertHistorySql, itemColumnsOf, updateCountsSql } from '#shared/features/queues/store.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** Reads and locks the item that a statement changes. */
const target = `select item.* from queue_items as item where item.workspace_id = $1 and item.queue_id = $2 and item.id = $3 for update`

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

/** Selects the refusal, the claim that the change ended without its token, and the item as it is after the statement. */
const outcome = (changed: string, extra = ''): string =>
  `select judged.refusal${extra}, ${ofClaim('previous_claimer_id', 'judged.claimed_by')}, ${ofClaim('previous_claim_until', 'judged.claim_expires_at')},
     final.* from judged,
     lateral (select ${itemColumnsOf(changed)} from ${changed} union all select ${itemColumnsOf('judged')} where judged.refusal is not null) as final`

/**
 * Moves an item, unless the move is refused (`MoveRefusal`): the item's version is not the expected one, the item is closed, the token's
 * claim has ended, the caller's claim expired and another caller has claimed the item, the target stage does not accept items from the
 * item's stage, or the target stage has as many open items as its wip limit. With a wip limit, the target stage must be locked before.
 * Values: workspace, queue, item, target stage, status, time, actor, actor type, note, stages from which the item may come or null for any,
 * wip limit or 0, claim token or null, expected version or null, kind of the history entry, and for a scan its verdict, payload as JSON,
 * id, time and station. Returns no row for an unknown item.
 */
export const updateItemStage = sql(
  'move_queue_item',
  `with target as materialized (${target}),
   judged as materialized (
     select target.*, $12::text is null and claimed_by is not null and claim_expires_at > $6::timestamptz as interrupts, case
       when version <> $13::integer then 'changed'
       when status <> 'open' then 'closed'
       when $12::text is not null and (claim_token is distinct from $12 or claim_expires_at <= $6::timestamptz) then 'stale'
       when $12 is null and $7::uuid = any(lapsed) and claimed_by <> $7 and claim_expires_at > $6 then 'lost'
       when not stage = any($10::text[]) then 'from'
       when $11::integer > 0 and (
         select count(*) from (
           select from queue_items as other
           where other.workspace_id = $1 and other.queue_id = $2 and other.stage = $4 and other.status = 'open' and other.id <> $3
           limit $11
         ) as inside
       ) >= $11 then 'full'
     end as refusal
     from target
   ),
   moved as (
     update queue_items as item
     set stage = $4, status = $5, entered_stage_at = $6, closed_at = case when $5 = 'open' then null else $6 end,
       claimed_by = null, claim_token = null, claim_expires_at = null, lapsed = '{}', version = item.version + 1
     from judged
     where item.workspace_id = $1 and item.queue_id = $2 and item.id = judged.id and judged.refusal is null
     returning item.*
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       item_id: 'moved.id',
       key: 'moved.key',
       kind: '$14::text',
       from_stage: 'judged.stage',
       to_stage: 'moved.stage',
       status: 'moved.status',
       verdict: '$15::text',
       payload: '$16::text::json',
       scan_id: '$17::text',
       scanned_at: '$18::timestamptz',
       station: '$19::text',
       actor_id: '$7::uuid',
       actor_type: '$8::text',
       note: '$9::text',
       created_at: '$6::timestamptz',
       version: 'moved.version',
       facts: `jsonb_build_object('stage', moved.stage, 'status', moved.status, 'claimed_by', null)`,
       ...claimEntry,
     })}
     from moved join judged using (id)`)}
   ),
   counted as (${updateCountsSql(`
     select judged.batch, judged.stage, judged.status, judged.source = 'scan' as unexpected, -1 as items from judged join moved using (id)
     union all
     select batch, stage, status, source = 'scan', 1 from moved`)}
   )
   ${outcome('moved', ', judged.stage as from_stage')}`,
)

/**
 * Changes an item without moving it, and may end its claim. Values: workspace, queue, item, time, actor, actor type, note, claim token or
 * null, priority, batch, assignee, whether `due_at` changes, due_at, payload as JSON (null leaves these unchanged), whether the claim ends,
 * whether to write an `edited` history entry.
 */
export const updateItem = sql(
  'edit_queue_item',
  `with target as materialized (${target}),
   judged as materialized (
     select target.*, $15::boolean and claimed_by is not null as releases,
       $15::boolean and $8::text is null and claimed_by is not null and claim_expires_at > $4::timestamptz as interrupts, case
       when status <> 'open' then 'closed'
       when $8::text is not null and (claim_token is distinct from $8 or claim_expires_at <= $4::timestamptz) then 'stale'
       when $15 and $8 is null and $5::uuid = any(lapsed) and claimed_by <> $5 and claim_expires_at > $4 then 'lost'
     end as refusal
     from target
   ),
   edited as (
     update queue_items as item
     set priority = coalesce($9::integer, item.priority), batch = coalesce($10::text, item.batch),
       assignee_id = coalesce($11::text, item.assignee_id), due_at = case when $12::boolean then $13::timestamptz else item.due_at end,
       payload = coalesce($14::text::json, item.payload), claimed_by = case when not judged.releases then item.claimed_by end,
       claim_token = case when not judged.releases then item.claim_token end,
       claim_expires_at = case when not judged.releases then item.claim_expires_at end,
       version = item.version + judged.releases::integer + $16::boolean::integer
     from judged
     where item.workspace_id = $1 and item.queue_id = $2 and item.id = judged.id and judged.refusal is null
     returning item.*
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       item_id: 'edited.id',
       key: 'edited.key',
       kind: `'released'`,
       from_stage: 'edited.stage',
       to_stage: 'edited.stage',
       status: 'edited.status',
       actor_id: '$5::uuid',
       actor_type: '$6::text',
       note: `case when $16 then '' else $7::text end`,
       created_at: '$4::timestamptz',
       version: 'judged.version + 1',
       facts: `jsonb_build_object('claimed_by', null)`,
       ...claimEntry,
     })} from edited join judged using (id) where judged.releases
     union all
     select ${historyEntrySql({
       item_id: 'edited.id',
       key: 'edited.key',
       kind: `'edited'`,
       from_stage: 'edited.stage',
       to_stage: 'edited.stage',
       status: 'edited.status',
       actor_id: '$5::uuid',
       actor_type: '$6::text',
       note: '$7::text',
       created_at: '$4::timestamptz',
       version: 'edited.version',
       facts: `(
         case when $9 is null then '{}' else jsonb_build_object('priority', edited.priority) end
         || case when $10 is null then '{}' else jsonb_build_object('batch', edited.batch) end
         || case when $11 is null then '{}' else jsonb_build_object('assignee_id', edited.assignee_id) end
         || case when $12 then jsonb_build_object('due_at', edited.due_at) else '{}' end
         || case when $14 is null then '{}' else jsonb_build_object('payload', md5(edited.payload::text)) end
       )`,
     })} from edited where $16`)}
   ),
   counted as (${updateCountsSql(`
     select judged.batch, judged.stage, judged.status, judged.source = 'scan' as unexpected, -1 as items
     from judged join edited using (id) where judged.batch <> edited.batch
     union all
     select edited.batch, edited.stage, edited.status, edited.source = 'scan', 1
     from judged join edited using (id) where judged.batch <> edited.batch`)}
   )
   ${outcome('edited')}`,
)

/** Deletes an item for good; its history stays. Values: workspace, queue, item, time, actor, actor type. */
export const deleteItem = sql(
  'delete_queue_item',
  `with gone as (delete from queue_items where workspace_id = $1 and queue_id = $2 and id = $3 returning *),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       item_id: 'gone.id',
       key: 'gone.key',
       kind: `'deleted'`,
       from_stage: 'gone.stage',
       status: 'gone.status',
       actor_id: '$5::uuid',
       actor_type: '$6::text',
       created_at: '$4::timestamptz',
       version: 'gone.version + 1',
     })} from gone`)}
   ),
   counted as (${updateCountsSql(`select batch, stage, status, source = 'scan' as unexpected, -1 as items from gone`)})
   select id from gone`,
)

/**
 * Writes a history entry for an event that changed no item: a scan or a pressed button. Values: workspace, queue, item or null, key, kind,
 * stage, verdict, payload as JSON, scan id, scan time, station, time, actor, actor type, note.
 */
export const insertHistoryEntry = sql(
  'note_queue_entry',
  `${insertHistorySql(`
     select ${historyEntrySql({
       item_id: '$3::uuid',
       key: '$4::text',
       kind: '$5::text',
       from_stage: '$6::text',
       verdict: '$7::text',
       payload: '$8::text::json',
       scan_id: '$9::text',
       scanned_at: '$10::timestamptz',
       station: '$11::text',
       created_at: '$12::timestamptz',
       actor_id: '$13::uuid',
       actor_type: '$14::text',
       note: '$15::text',
     })}`)} returning id`,
)
