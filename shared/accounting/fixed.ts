import { findInstant } from '#shared/accounting/store/books.ts'
import { problem } from '#shared/kernel/errors.ts'
import { utcInstant } from '#shared/kernel/instant.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { lockAgainstPosting } from '#shared/workspaces/books-store.ts'

/**
 * An instant before which nothing will be posted any more, now by default, once what was on its way then is committed: this waits for it.
 * Throws VALIDATION_ERROR that names `path` for what is no instant, and for one that is ahead.
 */
export async function fixed(
  { db, workspace }: Pick<Scope, 'db'> & { readonly workspace: { readonly id: string } },
  text: string | undefined,
  path: string,
): Promise<string> {
  const sent = text === undefined ? undefined : utcInstant(text)
  if (text !== undefined && sent === undefined) {
    throw problem('VALIDATION_ERROR', `${path} must be an instant such as 2026-01-31T12:00:00Z, got ${text.slice(0, 40)}`)
  }
  // The instant first: whatever is posted once the lock is free is later than that.
  const [found] = await db.query<{ instant: string; is_ahead: boolean }>(findInstant(sent))
  if (!found || found.is_ahead) throw problem('VALIDATION_ERROR', `${path} must not be ahead, got ${sent}`)
  await db.query(lockAgainstPosting(workspace.id))
  return found.instant
}
