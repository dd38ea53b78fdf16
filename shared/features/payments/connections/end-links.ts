import type { Scope } from '#shared/core/scope/scope.ts'
import { findConnection } from '#shared/features/payments/connections/open.ts'
import { forgetCredentials } from '#shared/features/payments/connections/store.ts'
import { sweepDue } from '#shared/features/payments/due.ts'
import { abandonLink } from '#shared/features/payments/links/change.ts'
import { findOpenLinks, type Link } from '#shared/features/payments/links/store.ts'
import { removeDue } from '#shared/platform/due/due-times.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'

/** Links read per page. */
const pageSize = 50

/**
 * Cancels the open links of a deleted connection at its provider and here, then deletes the credentials. When a link fails, the others are
 * still cancelled and the first error is thrown at the end; a repeated call continues with the links that are left.
 */
export async function endConnectionLinks(scope: Scope, connectionId: string): Promise<void> {
  const { db, workspace } = scope
  if ((await findConnection(scope, connectionId))?.deleted_at == null) return
  await removeDue(db, sweepDue, workspace.id, [connectionId])
  const failures: unknown[] = []
  for (let after = lowestId, found = pageSize; found === pageSize; ) {
    const links: Link[] = await db.query(findOpenLinks({ workspaceId: workspace.id, connectionId, afterId: after, limit: pageSize }))
    for (const { id } of links) await abandonLink(scope, id).catch((error: unknown) => failures.push(error))
    after = links.at(-1)?.id ?? after
    found = links.length
  }
  if (failures.length > 0) throw failures[0]
  await db.query(forgetCredentials({ workspaceId: workspace.id, id: connectionId }))
}
