import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { compareCounts, findItemRangeEnd, replayItems } from '#shared/features/queues/history/store.ts'
import type { QueueDifference, QueueVerification } from '#shared/features/queues/jobs.ts'
import { highestId, lowestId } from '#shared/platform/kernel/ids.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** Items replayed per statement. */
const batchSize = 2_000

/** Maximum number of differences collected and reported. */
const maxDifferences = 1_000

/**
 * Compares every item's replayed history with its row, and the rows with the stored counts (docs/contract/queues.md#verification). Each
 * batch of items is read in one snapshot, so other work may run meanwhile. `advance` receives the number of items verified.
 */
export async function verifyHistory(scope: Scope, queue: Queue, advance: (items: number) => Promise<void>): Promise<QueueVerification> {
  const { db } = scope
  const place = { workspaceId: scope.workspace.id, queueId: queue.id }
  const totals = { added: 0, deleted: 0, open: 0, closed: 0 }
  const differences: QueueDifference[] = []
  const report = (difference: QueueDifference) => {
    if (differences.length < maxDifferences) differences.push(difference)
  }
  for (let afterId: string | null = lowestId; afterId !== null; ) {
    const [rangeEnd]: { item_id: string | null }[] = await db.query(findItemRangeEnd({ ...place, afterId, batchSize }))
    const lastId: string | null = rangeEnd?.item_id ?? null
    const rows = await db.query(replayItems({ ...place, afterId, lastId: lastId ?? highestId }))
    for (const { id, field, expected, found, added, deleted, open, closed } of rows) {
      if (id !== null && field !== null) report({ item_id: id, field, expected: show(field, expected), found: show(field, found) })
      totals.added += added
      totals.deleted += deleted
      totals.open += open
      totals.closed += closed
    }
    await advance(totals.added)
    afterId = lastId
  }
  for (const { batch, stage, status, unexpected, expected, found } of await db.query(compareCounts(place))) {
    const group = [stage, status, ...(unexpected ? ['unexpected'] : []), ...(batch === '' ? [] : [`batch ${batch}`])]
    report({ item_id: null, field: `count of ${group.join(', ')}`, expected, found })
  }
  return { ok: differences.length === 0, ...totals, differences }
}

/** A value of a field of an item. In JSON, PostgreSQL writes an instant in a form of its own. */
const show = (field: string, value: unknown): unknown => (field === 'due_at' && typeof value === 'string' ? toUtcInstant(value) : value)
