import { type AccessSql, accessStatement } from '#shared/features/queues/items/item-access-store.ts'
import { entryOfItem, historyEntrySql, insertHistorySql, itemColumns, itemColumnsOf } from '#shared/features/queues/store.ts'
import { bigint, boolean, instant, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'

/**
 * Claims waiting items, of the highest priority first, then the oldest first. Items that a concurrent claim has locked are skipped: each
 * claim follows this order, all concurrent claims together follow it only nearly. Items hidden from the caller are skipped, too. An item
 * whose claim has expired is waiting; claiming it also writes an `expired` history entry. `stage` is a condition on the parameter `stages`.
 */
const claimSql = (stage: string, seen: AccessSql): string =>
  `with chosen as materialized (
     select item.id, item.claimed_by as was, item.version as was_version, row_number() over (order by item.priority desc, item.id) as place
     from (
       select id, claimed_by, version, priority from queue_items
       where workspace_id = $workspaceId and queue_id = $queueId and status = 'open' and ${stage}
         and (claim_expires_at is null or claim_expires_at <= $now::timestamptz)${seen('queue_items.record_id', 'queue_items.queue_id')}
       order by priority desc, id limit $limit for update skip locked
     ) as item
   ),
   taken as (
     update queue_items as item
     set claimed_by = $claimerId::uuid, claim_token = gen_random_uuid(), claim_expires_at = $expiresAt::timestamptz, attempts = item.attempts + 1,
       lapsed = case when chosen.was is null or chosen.was = any(item.lapsed) then item.lapsed else item.lapsed || chosen.was end,
       version = item.version + case when chosen.was is null then 1 else 2 end
     from chosen
     where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = chosen.id
     returning ${itemColumnsOf('item')}, item.claim_token, chosen.was, chosen.was_version, chosen.place
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       ...entryOfItem('taken'),
       kind: `'expired'`,
       created_at: '$now::timestamptz',
       version: 'taken.was_version + 1',
       facts: `jsonb_build_object('claimed_by', null)`,
     })} from taken where taken.was is not null
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
   )
   select ${itemColumnsOf('taken')}, taken.claim_token, taken.was is not null as lapsed from taken order by taken.place`

const declaration = {
  params: {
    workspaceId: uuid,
    queueId: uuid,
    /** Keys. */
    stages: texts,
    limit: bigint,
    now: instant,
    /** The end of the lease. */
    expiresAt: instant,
    claimerId: uuid.orNull,
    claimerType: text,
  },
  columns: {
    ...itemColumns,
    claim_token: text,
    /** Whether the item had an expired claim, which this claim replaced. */
    lapsed: boolean.notNull,
  },
}

/** Claims from one stage: `stages` holds only its key. */
export const claimInStage = accessStatement('queues.claimInStage', (seen) => claimSql('stage = ($stages::text[])[1]', seen), declaration)

/** Claims from several stages. */
export const claimAnywhere = accessStatement('queues.claimAnywhere', (seen) => claimSql('stage = any($stages::text[])', seen), declaration)
