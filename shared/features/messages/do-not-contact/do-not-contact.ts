import type { Scope } from '#shared/core/scope/scope.ts'
import { contactKey } from '#shared/features/messages/do-not-contact/contact-key.ts'
import type { DoNotContactEntry, DoNotContactQuery } from '#shared/features/messages/do-not-contact/schemas.ts'
import { deleteDoNotContact, findDoNotContact, findDoNotContactByKey } from '#shared/features/messages/do-not-contact/store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'

/** Do-not-contact list of the workspace, in alphabetical order. */
export const listDoNotContact = ({ db, workspace }: Scope, { limit, cursor = '' }: DoNotContactQuery): Promise<DoNotContactEntry[]> =>
  db.query(findDoNotContact({ workspaceId: workspace.id, afterAddress: cursor, limit }))

/** Entry of an address, in any spelling. Throws NOT_FOUND. */
export async function getDoNotContactEntry({ db, workspace }: Scope, address: string): Promise<DoNotContactEntry> {
  return requireRow(await db.query(findDoNotContactByKey({ workspaceId: workspace.id, address: contactKey(address) })))
}

/** Removes an address, in any spelling, from the list: it gets messages again. Throws NOT_FOUND. */
export async function removeDoNotContactEntry({ db, workspace }: Scope, address: string): Promise<void> {
  requireRow(await db.query(deleteDoNotContact({ workspaceId: workspace.id, address: contactKey(address) })))
}
