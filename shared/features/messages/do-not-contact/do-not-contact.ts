import type { Scope } from '#shared/core/scope/scope.ts'
import { contactKey } from '#shared/features/messages/do-not-contact/contact-key.ts'
import type { DoNotContactEntry, DoNotContactQuery } from '#shared/features/messages/do-not-contact/schemas.ts'
import { deleteDoNotContact, findDoNotContact, findDoNotContactByKey } from '#shared/features/messages/do-not-contact/store.ts'
import { type LinkedPage, readPage } from '#shared/platform/db/lists.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const addressPosition = schema(t.Object({ address: t.String() }))

/** Do-not-contact list of the workspace, in alphabetical order. Throws VALIDATION_ERROR for a cursor of another list. */
export async function listDoNotContact(scope: Scope, { limit, cursor }: DoNotContactQuery): Promise<LinkedPage<DoNotContactEntry>> {
  const afterAddress = cursor === undefined ? '' : readCursor(scope, cursor, addressPosition).address
  const statement = findDoNotContact({ workspaceId: scope.workspace.id, afterAddress, limit: limit + 1 })
  const { page, hasMore } = await readPage(scope.db, statement, limit)
  const last = page.at(-1)
  return { items: page, next: hasMore && last ? makeCursor(scope, { address: last.address }) : null }
}

/** Entry of an address, in any spelling. Throws NOT_FOUND. */
export async function getDoNotContactEntry({ db, workspace }: Scope, address: string): Promise<DoNotContactEntry> {
  return requireRow(await db.query(findDoNotContactByKey({ workspaceId: workspace.id, address: contactKey(address) })))
}

/** Removes an address, in any spelling, from the list: it gets messages again. Throws NOT_FOUND. */
export async function removeDoNotContactEntry({ db, workspace }: Scope, address: string): Promise<void> {
  requireRow(await db.query(deleteDoNotContact({ workspaceId: workspace.id, address: contactKey(address) })))
}
