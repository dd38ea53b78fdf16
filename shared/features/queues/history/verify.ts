import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { compareCounts, findItemRangeEnd, replayItems } from '#shared/features/queues/history/store.ts'
import type { QueueDifference, QueueVerification } from '#shared/features/queues/jobs.ts'

/** Items whose history is replayed in one statement. */
const step = 2_000

/** Differences that are told; there may be more. */
const maxDifferences = 1_000

const lowestId = '00000000-0000-0000-0000-000000000000'
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Row = Pick<QueueVerification, 'added' | 'deleted' | 'open' | 'closed'> & {
  readonly id: string | null
  readonly field: string
  readonly expected: unknown
  readonly found: unknown
}

/**
 * Replays every item's history against its row, and the rows against the kept counts (decisions, Work queues). Some thousands of items at a
 * time, each in one snapshot, so it may run beside work of any kind; `done` hears how many items are through.
 */
export async function verifyHistory(scope: Scope, queue: Queue, done: (items: number) => Promise<void>): Promise<QueueVerification> {
  const { db, workspace } = scope
  const totals = { added: 0, deleted: 0, open: 0, closed: 0 }
  const differences: QueueDifference[] = []
  for (let after: string | null = lowestId; after !== null; ) {
    const [last]: { item_id: string }[] = await db.query(findItemRangeEnd(workspace.id, queue.id, after, step))
    const rows: Row[] = await db.query<Row>(replayItems(workspace.id, queue.id, after, last?.item_id ?? highestId))
    for (const { id, field, expected, found, added, deleted, open, closed } of rows) {
      if (id !== null) differences.push({ item_id: id, field, expected, found })
      totals.added += added
      totals.deleted += deleted
      totals.open += open
      totals.closed += closed
    }
    await done(totals.added)
    after = last?.item_id ?? null
  }
  const counts = await db.query<{ batch: string; stage: string; status: string; unexpected: boolean; expected: number; found: number }>(
    compareCounts(workspace.id, queue.id),
  )
  for (const { batch, stage, status, unexpected, expected, found } of counts) {
    const of = [stage, status, ...(unexpected ? ['unexpected'] : []), ...(batch === '' ? [] : [`batch ${batch}`])]
    differences.push({ item_id: null, field: `count of ${of.join(', ')}`, expected, found })
  }
  return { ok: differences.length === 0, ...totals, differences: differences.slice(0, maxDifferences) }
}
