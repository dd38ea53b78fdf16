import { cursorParameters, linkedCursor } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** An address on the do-not-contact list. */
export const doNotContactEntry = schema(
  t.Object(
    {
      address: t.String({ description: 'In lower case, its domain in ASCII.' }),
      reason: t.Enum(['unsubscribed', 'complaint']),
      message_id: nullable(t.String({ format: 'uuid', description: 'The message that led to the entry.' })),
      created_at: instant,
    },
    {
      title: 'DoNotContact',
      description: 'An address that gets no messages. Invitations, confirmations and password mails are still sent.',
    },
  ),
)
export type DoNotContactEntry = TypeOf<typeof doNotContactEntry>

/** Page of the do-not-contact list. */
export const doNotContactQuery = schema(t.Object(cursorParameters({ cursor: linkedCursor })))
export type DoNotContactQuery = TypeOf<typeof doNotContactQuery>
