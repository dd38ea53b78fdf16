import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { compareCounts, findItemRangeEnd, replayItems } from '#shared/features/queues/history/store.ts'
import type { QueueDifference, QueueVerification } from '#shared/features/queues/jobs.ts'
import { highestId, lowestId } from '#shared/platform/kernel/ids.ts'

/** Items replayed per statement. */
const batchSize = 2_000

/** Differences reported; the others are left out. */
const maxDifferences = 1_000

type ReplayRow = Pick<QueueVerification, 'added' | 'deleted' | 'open' | 'closed'> & {
  readonly id: string | null
  readonly field: string
  readonly expected: unknown
  readonly found: unknown
}

/**
 * Compares every item's replayed history with its row, and the rows with the stored counts (decisions, Work queues). Each batch of items is
 * read in one snapshot, so other work may run meanwhile. `advance` receives the number of items verified.
 */
export async function verifyHistory(scope: Scope, queue: Queue, advance: (items: number) => Promise<void>): Promise<QueueVerification> {
  const { db, workspace } = scope
  const totals = { added: 0, deleted: 0, open: 0, closed: 0 }
  const differences: QueueDifference[] = []
  for (let after: string | null = lowestId; after !== null; ) {
    const [rangeEnd]: { item_id: string }[] = await db.query(findItemRangeEnd(workspace.id, queue.id, after, batchSize))
    const rows: ReplayRow[] = await db.query<ReplayRow>(replayItems(workspace.id, queue.id, after, rangeEnd?.item_id ?? highestId))
    for (const { id, field, expected, found, added, deleted, open, closed } of rows) {
      if (id !== null) differences.push({ item_id: id, field, expected, found })
      totals.added += added
      totals.deleted += deleted
      totals.open += open
      totals.closed += closed
    }
    await advance(totals.added)
    after = rangeEnd?.item_id ?? null
  }
  const counts = await db.query<{ batch: string; stage: string; status: string; unexpected: boolean; expected: number; found: number }>(
    compareCounts(workspace.id, queue.id),
  )
  for (const { batch, stage, status, unexpected, expected, found } of counts) {
    const group = [stage, status, ...(unexpected ? ['unexpected'] : []), ...(batch === '' ? [] : [`batch ${batch}`])]
    differences.push({ item_id: null, field: `count of ${group.join(', ')}`, expected, found })
  }
  return { ok: differences.length === 0, ...totals, differences: differences.slice(0, maxDifferences) }
}
