import { clearHistory, clearItems, deleteQueue, findHiddenQueue } from '#shared/features/queues/definitions/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Rows that one statement takes away. */
const step = 2_000

/** Takes away what a deleted queue has left, some rows at a time; doing it again changes nothing. One that is not deleted is left alone. */
export async function deleteQueueContents(db: Executor, workspaceId: string, queueId: string): Promise<void> {
  if ((await db.query(findHiddenQueue(workspaceId, queueId))).length === 0) return
  while ((await db.query(clearItems(workspaceId, queueId, step))).length > 0);
  while ((await db.query(clearHistory(workspaceId, queueId, step))).length > 0);
  await db.query(deleteQueue(workspaceId, queueId))
}
