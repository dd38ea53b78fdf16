import { type AccessSql, accessStatement } from '#shared/features/queues/items/item-access-store.ts'
import { historyEntrySql, insertHistorySql, itemColumnsOf } from '#shared/features/queues/store.ts'

/**
 * Claims waiting items, of the highest priority first, then the oldest first. Items that a concurrent claim has locked are skipped: each
 * claim follows this order, all concurrent claims together follow it only nearly. Items hidden from the caller are skipped, too. An item
 * whose claim has expired is waiting; claiming it also writes an `expired` history entry. Values: workspace, queue, stage keys, number of
 * items, time of the claim, end of the lease, claimer's id, claimer's type.
 */
const claiming = (stage: string, seen: AccessSql): string =>
  `with chosen as materialized (
     select item.id, item.claimed_by as was, item.version as was_version, row_number() over (order by item.priority desc, item.id) as place
     from (
       select id, claimed_by, version, priority from queue_items
       where workspace_id = $1 and queue_id = $2 and status = 'open' and ${stage}
         and (claim_expires_at is null or claim_expires_at <= $5::timestamptz)${seen('queue_items.record_id', 'queue_items.queue_id')}
       order by priority desc, id limit $4 for update skip locked
     ) as item
   ),
   taken as (
     update queue_items as item
     set claimed_by = $7::uuid, claim_token = gen_random_uuid(), claim_expires_at = $6::timestamptz, attempts = item.attempts + 1,
       lapsed = case when chosen.was is null or chosen.was = any(item.lapsed) then item.lapsed else item.lapsed || chosen.was end,
       version = item.version + case when chosen.was is null then 1 else 2 end
     from chosen
     where item.workspace_id = $1 and item.queue_id = $2 and item.id = chosen.id
     returning ${itemColumnsOf('item')}, item.claim_token, chosen.was, chosen.was_version, chosen.place
   ),
   written as (${insertHistorySql(`
     select ${historyEntrySql({
       item_id: 'taken.id',
       key: 'taken.key',
       kind: `'expired'`,
       from_stage: 'taken.stage',
       to_stage: 'taken.stage',
       status: 'taken.status',
       created_at: '$5::timestamptz',
       version: 'taken.was_version + 1',
       facts: `jsonb_build_object('claimed_by', null)`,
     })} from taken where taken.was is not null
     union all
     select ${historyEntrySql({
       item_id: 'taken.id',
       key: 'taken.key',
       kind: `'claimed'`,
       from_stage: 'taken.stage',
       to_stage: 'taken.stage',
       status: 'taken.status',
       actor_id: '$7::uuid',
       actor_type: '$8::text',
       created_at: '$5::timestamptz',
       version: 'taken.version',
       facts: `jsonb_build_object('claimed_by', taken.claimed_by)`,
     })} from taken`)}
   )
   select ${itemColumnsOf('taken')}, taken.claim_token, taken.was is not null as lapsed from taken order by taken.place`

/** Claims from one stage: $3 is an array that holds only its key. */
export const claimInStage = accessStatement('claim_in_queue_stage', (seen) => claiming('stage = ($3::text[])[1]', seen))

/** Claims from several stages. */
export const claimAnywhere = accessStatement('claim_in_queue', (seen) => claiming('stage = any($3::text[])', seen))
