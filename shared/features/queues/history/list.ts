import { createReader, type Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import type { HistoryEntry, HistoryQuery } from '#shared/features/queues/history/schemas.ts'
import { findHistory, findHistoryOfItem } from '#shared/features/queues/history/store.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { previousClaimOf } from '#shared/features/queues/store.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'

/** History of a queue or of one of its items, newest first, without items hidden from the caller. */
export async function listHistory(scope: Scope, queue: Queue, { item_id, limit }: HistoryQuery): Promise<HistoryEntry[]> {
  const parameters = { workspaceId: scope.workspace.id, queueId: queue.id, limit }
  const rows = await withItemAccess(scope, queue, (itemAccess) => {
    const statement =
      item_id === undefined ? findHistory(itemAccess, parameters) : findHistoryOfItem(itemAccess, { ...parameters, itemId: item_id })
    return readWholeList(createReader(scope), statement, 'limit must be lower here')
  })
  return rows.map(({ previous_claimer_id, previous_claim_until, ...entry }) => ({
    ...entry,
    previous_claim: previousClaimOf({ previous_claimer_id, previous_claim_until }),
  }))
}
