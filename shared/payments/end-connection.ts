import { dropDue } from '#shared/due/due.ts'
import { findConnection } from '#shared/payments/account.ts'
import { abandonLink } from '#shared/payments/change-link.ts'
import { sweepDue } from '#shared/payments/due.ts'
import type { Link } from '#shared/payments/link.ts'
import { forgetCredentials } from '#shared/payments/store/connections-store.ts'
import { findOpenLinks } from '#shared/payments/store/links-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Links read per page. */
const pageSize = 50

const lowestId = '00000000-0000-0000-0000-000000000000'

/**
 * Cancels the open links of a deleted connection at its provider and here, then deletes the credentials. When a link fails, the others are
 * still cancelled and the first error is thrown at the end; a repeated call continues with the links that are left.
 */
export async function endLinksOf(scope: Scope, connectionId: string): Promise<void> {
  const { db, workspace } = scope
  if ((await findConnection(scope, connectionId))?.deleted_at == null) return
  await dropDue(db, sweepDue, workspace.id, [connectionId])
  const failures: unknown[] = []
  for (let after = lowestId, found = pageSize; found === pageSize; ) {
    const links: Link[] = await db.query<Link>(findOpenLinks(workspace.id, connectionId, after, pageSize))
    for (const { id } of links) await abandonLink(scope, id).catch((error: unknown) => failures.push(error))
    after = links.at(-1)?.id ?? after
    found = links.length
  }
  if (failures.length > 0) throw failures[0]
  await db.query(forgetCredentials(workspace.id, connectionId))
}
