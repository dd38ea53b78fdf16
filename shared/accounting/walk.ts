import { type StoredEntry, type WalkedEntry, walkByDate, walkByPosting } from '#shared/accounting/store/entries.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Entries that are in memory at once: of 200 lines each they are 40 MB. */
const perStep = 200

const lowestId = '00000000-0000-0000-0000-000000000000'

/** All entries that were posted before an instant and not before another, in the order of their posting. */
export async function* entriesByPosting(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  before: string,
  since = '-infinity',
): AsyncGenerator<readonly StoredEntry[]> {
  // No entry has the lowest id, so those of that very moment are among them.
  let last = { posted_at: since, id: lowestId }
  for (;;) {
    const entries = await db.query<WalkedEntry>(walkByPosting(workspace.id, last.posted_at, last.id, before, perStep))
    if (entries.length > 0) yield entries
    if (entries.length < perStep) return
    last = entries.at(-1) ?? last
  }
}

/** All entries that were posted before an instant, by date, then by posting. */
export async function* entriesByDate(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  before: string,
): AsyncGenerator<readonly StoredEntry[]> {
  let last = { date: '-infinity', posted_at: '-infinity', id: lowestId }
  for (;;) {
    const entries = await db.query<WalkedEntry>(walkByDate(workspace.id, last.date, last.posted_at, last.id, before, perStep))
    if (entries.length > 0) yield entries
    if (entries.length < perStep) return
    last = entries.at(-1) ?? last
  }
}
