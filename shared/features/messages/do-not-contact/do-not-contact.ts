import type { Scope } from '#shared/core/scope/scope.ts'
import { contactKey } from '#shared/features/messages/do-not-contact/contact-key.ts'
import { deleteDoNotContact, findDoNotContact, findDoNotContactByKey } from '#shared/features/messages/do-not-contact/store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** An address on the do-not-contact list. */
export const doNotContactEntry = schema(
  t.Object(
    {
      address: t.String({ description: 'In lower case, its domain in ASCII.' }),
      reason: t.Enum(['unsubscribed', 'complaint']),
      message_id: nullable(t.String({ format: 'uuid', description: 'The message that led to the entry.' })),
      created_at: t.String({ format: 'date-time' }),
    },
    {
      title: 'DoNotContact',
      description: 'An address that gets no messages. Invitations, confirmations and password mails are still sent.',
    },
  ),
)
type DoNotContactEntry = TypeOf<typeof doNotContactEntry>

/** Page of the do-not-contact list. */
export const doNotContactQuery = schema(
  t.Object({
    limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: t.Optional(t.String({ format: 'email', description: 'The last address of the previous page.' })),
  }),
)

/** Do-not-contact list of the workspace, in alphabetical order. */
export const listDoNotContact = (
  { db, workspace }: Scope,
  { limit, cursor = '' }: TypeOf<typeof doNotContactQuery>,
): Promise<DoNotContactEntry[]> => db.query<DoNotContactEntry>(findDoNotContact(workspace.id, cursor, limit))

/** Entry of an address, in any spelling. Throws NOT_FOUND. */
export async function getDoNotContactEntry({ db, workspace }: Scope, address: string): Promise<DoNotContactEntry> {
  return requireRow(await db.query<DoNotContactEntry>(findDoNotContactByKey(workspace.id, contactKey(address))))
}

/** Removes an address, in any spelling, from the list: it gets messages again. Throws NOT_FOUND. */
export async function removeDoNotContactEntry({ db, workspace }: Scope, address: string): Promise<void> {
  requireRow(await db.query(deleteDoNotContact(workspace.id, contactKey(address))))
}
