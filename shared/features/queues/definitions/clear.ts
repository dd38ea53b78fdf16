import { clearHistory, clearItems, deleteQueue, findHiddenQueue } from '#shared/features/queues/definitions/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Rows deleted per statement. */
const batchSize = 2_000

/** Deletes the items, history and row of a deleted queue in batches. Idempotent; a queue that is not marked deleted is left unchanged. */
export async function deleteQueueContents(db: Executor, workspaceId: string, queueId: string): Promise<void> {
  if ((await db.query(findHiddenQueue(workspaceId, queueId))).length === 0) return
  while ((await db.query(clearItems(workspaceId, queueId, batchSize))).length > 0);
  while ((await db.query(clearHistory(workspaceId, queueId, batchSize))).length > 0);
  await db.query(deleteQueue(workspaceId, queueId))
}
