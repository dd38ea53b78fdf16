import { insertItemEvents, itemEvent, itemEventParams } from '#shared/features/queues/events/store.ts'
import { type AccessSql, accessStatement } from '#shared/features/queues/items/item-access-store.ts'
import { entryOfItem, historyEntrySql, insertHistorySql, itemColumns, itemColumnsOf } from '#shared/features/queues/store.ts'
import { bigint, boolean, instant, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'

/** The end of a new claim as answers show it. */
const claimEnd = `to_char(taken.claim_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/**
 * Claims waiting items: those of the highest priority first, and of these the oldest first. Items that are hidden from the caller are skipped.
 * So are items that a concurrent claim has locked; concurrent claims may therefore take a few items out of this order. An item whose claim has
 * expired is waiting, and claiming it also writes an `expired` history entry. `stageCondition` is SQL on the parameter `stages`.
 */
const claimSql = (stageCondition: string, accessSql: AccessSql): string =>
  `with chosen as materialized (
     select item.id, item.claimed_by as expired_claimer, item.version as old_version,
       row_number() over (order by item.priority desc, item.id) as rank
     from (
       select id, claimed_by, version, priority from queue_items
       where workspace_id = $workspaceId and queue_id = $queueId and status = 'open' and ${stageCondition}
         and (claim_expires_at is null or claim_expires_at <= $now::timestamptz)${accessSql('queue_items.record_id', 'queue_items.queue_id')}
       order by priority desc, id limit $limit for update skip locked
     ) as item
   ),
   taken as (
     update queue_items as item
     set claimed_by = $claimerId::uuid, claim_token = gen_random_uuid(), claim_expires_at = $expiresAt::timestamptz, attempts = item.attempts + 1,
       lapsed = case when chosen.expired_claimer is null or chosen.expired_claimer = any(item.lapsed) then item.lapsed
         else item.lapsed || chosen.expired_claimer end,
       version = item.version + case when chosen.expired_claimer is null then 1 else 2 end
     from chosen
     where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = chosen.id
     returning ${itemColumnsOf('item')}, item.claim_token, chosen.expired_claimer, chosen.old_version, chosen.rank
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       ...entryOfItem('taken'),
       kind: `'expired'`,
       created_at: '$now::timestamptz',
       version: 'taken.old_version + 1',
       facts: `jsonb_build_object('claimed_by', null)`,
     })} from taken where taken.expired_claimer is not null
     union all
     select ${historyEntrySql({
       ...entryOfItem('taken'),
       kind: `'claimed'`,
       actor_id: '$claimerId::uuid',
       actor_type: '$claimerType::text',
       created_at: '$now::timestamptz',
       version: 'taken.version',
       facts: `jsonb_build_object('claimed_by', taken.claimed_by)`,
     })} from taken`)}
   ),
   announced as (${insertItemEvents(`
     select ${itemEvent(
       'claimed',
       'taken',
       { stage: 'taken.stage', claimed_by: 'taken.claimed_by', claim_expires_at: claimEnd, attempts: 'taken.attempts' },
       'taken.rank',
     )} from taken`)}
   )
   select ${itemColumnsOf('taken')}, taken.claim_token, taken.expired_claimer is not null as had_expired from taken order by taken.rank`

const declaration = {
  params: {
    workspaceId: uuid,
    queueId: uuid,
    /** Keys of stages. */
    stages: texts,
    limit: bigint,
    now: instant,
    /** The time at which the new claims expire. */
    expiresAt: instant,
    claimerId: uuid.orNull,
    claimerType: text,
    ...itemEventParams,
  },
  columns: {
    ...itemColumns,
    claim_token: text,
    /** Whether the item had an expired claim, which this claim replaced. */
    had_expired: boolean.notNull,
  },
}

/** Claims items of one stage: `stages` holds only its key. */
export const claimInStage = accessStatement(
  'queues.claimInStage',
  (accessSql) => claimSql('stage = ($stages::text[])[1]', accessSql),
  declaration,
)

/** Claims items of several stages. */
export const claimAnywhere = accessStatement(
  'queues.claimAnywhere',
  (accessSql) => claimSql('stage = any($stages::text[])', accessSql),
  declaration,
)
