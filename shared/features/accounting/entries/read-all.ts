import type { Scope } from '#shared/core/scope/scope.ts'
import { findEntriesByDate, findEntriesByPosting, type StoredEntry } from '#shared/features/accounting/entries/store.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'

/** Entries in memory at once; with 200 lines each they take 40 MB. */
const pageSize = 200

/** Reads all entries posted from `since` (inclusive) to `before` (exclusive) in the order of posting, in pages of 200. */
export async function* readEntriesByPosting(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  before: string,
  since = '-infinity',
): AsyncGenerator<readonly StoredEntry[]> {
  // No entry has the lowest id, so entries posted exactly at `since` are included.
  yield* readPages({ posted_at: since, id: lowestId }, ({ posted_at: afterPosting, id: afterId }) =>
    db.query(findEntriesByPosting({ workspaceId: workspace.id, before, afterPosting, afterId, limit: pageSize })),
  )
}

/** Reads all entries posted before an instant, by date, then by posting, in pages of 200. */
export async function* readEntriesByDate(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  before: string,
): AsyncGenerator<readonly StoredEntry[]> {
  const start = { date: '-infinity', posted_at: '-infinity', id: lowestId }
  yield* readPages(start, ({ date: afterDate, posted_at: afterPosting, id: afterId }) =>
    db.query(findEntriesByDate({ workspaceId: workspace.id, before, afterDate, afterPosting, afterId, limit: pageSize })),
  )
}

async function* readPages<Position, Row extends Position>(start: Position, readAfter: (last: Position) => Promise<readonly Row[]>) {
  for (let last = start; ; ) {
    const rows = await readAfter(last)
    if (rows.length > 0) yield rows
    if (rows.length < pageSize) return
    last = rows.at(-1) ?? last
  }
}
