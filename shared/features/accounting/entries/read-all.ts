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
  let last = { posted_at: since, id: lowestId }
  for (;;) {
    const after = { afterPosting: last.posted_at, afterId: last.id }
    const entries = await db.query(findEntriesByPosting({ ...after, workspaceId: workspace.id, before, limit: pageSize }))
    if (entries.length > 0) yield entries
    if (entries.length < pageSize) return
    last = entries.at(-1) ?? last
  }
}

/** Reads all entries posted before an instant, by date, then by posting, in pages of 200. */
export async function* readEntriesByDate(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  before: string,
): AsyncGenerator<readonly StoredEntry[]> {
  let last = { date: '-infinity', posted_at: '-infinity', id: lowestId }
  for (;;) {
    const after = { afterDate: last.date, afterPosting: last.posted_at, afterId: last.id }
    const entries = await db.query(findEntriesByDate({ ...after, workspaceId: workspace.id, before, limit: pageSize }))
    if (entries.length > 0) yield entries
    if (entries.length < pageSize) return
    last = entries.at(-1) ?? last
  }
}
