import type { Scope } from '#shared/core/scope/scope.ts'
import { lockAgainstPosting } from '#shared/features/accounting/ledger-lock-store.ts'
import { readPostingInstant } from '#shared/features/accounting/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Waits until every posting with an instant before the given one (now by default) is committed, and returns the given instant. No later
 * posting gets an earlier instant. Throws VALIDATION_ERROR naming `path` for text that is no instant and for an instant in the future.
 */
export async function waitForPostings(
  { db, workspace }: Pick<Scope, 'db'> & { readonly workspace: { readonly id: string } },
  text: string | undefined,
  path: string,
): Promise<string> {
  const sent = text === undefined ? undefined : toUtcInstant(text)
  if (text !== undefined && sent === undefined) {
    throw problem('VALIDATION_ERROR', `${path} must be an instant such as 2026-01-31T12:00:00Z, got ${text.slice(0, 40)}`)
  }
  // Reads the instant before taking the lock, so postings that start after the lock is released have a later instant.
  const [instantRow] = await db.query(readPostingInstant({ instant: sent }))
  if (!instantRow || instantRow.is_ahead) throw problem('VALIDATION_ERROR', `${path} must not be ahead, got ${sent}`)
  await db.query(lockAgainstPosting({ workspaceId: workspace.id }))
  return instantRow.instant
}
