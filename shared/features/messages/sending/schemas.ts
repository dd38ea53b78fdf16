import { messageLimits } from '#shared/features/messages/templates/schemas.ts'
import { cursorParameters, linkedCursor } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { mailStatuses } from '#shared/platform/mail/mail.ts'

const optionalId = (description: string) => t.Optional(nullable(t.String({ maxLength: 200, description })))
const optionalText = (maxLength: number, description: string) => t.Optional(nullable(t.String({ maxLength, description })))

/** Input of the SDK method and the flow block that send a message. Empty text counts as omitted. */
export const messageInput = schema(
  t.Object(
    {
      connection_id: t.String({ maxLength: 200, description: 'The connection that sends the message.' }),
      template_id: optionalId('The template of the subject and the bodies that are not sent here.'),
      to: optionalText(320, 'The address; default: the value of to_field in the record.'),
      record_type: optionalId('Key of the type of the record that the message is about.'),
      record_id: optionalId('The record that the message is about.'),
      to_field: optionalId('Key of the field of that record that holds the address.'),
      subject: optionalText(messageLimits.subject, 'Default: the subject of the template.'),
      body_text: optionalText(messageLimits.body, 'Default: the plain text of the template.'),
      body_html: optionalText(messageLimits.body, 'Default: the HTML of the template.'),
      vars: t.Optional(
        nullable(
          t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Null()]), {
            description: 'Values of the template variables by name.',
          }),
        ),
      ),
    },
    { title: 'MessageInput' },
  ),
)
export type MessageInput = TypeOf<typeof messageInput>

/** Result of sending a message. */
export interface SentMessage {
  readonly message_id: string
  /** Whether the message is not sent because its recipient is on the do-not-contact list. */
  readonly skipped: boolean
}

const summaryProperties = {
  id: uuid,
  to: t.String(),
  subject: t.String(),
  status: t.Enum([...mailStatuses], {
    description:
      'uncertain: the connection broke after the last byte was sent. bounced: the mailbox does not exist. skipped: the address is on the do-not-contact list.',
  }),
  attempts: t.Integer(),
  error: nullable(t.String({ description: 'Why the last attempt failed, as the server said.' })),
  created_at: instant,
  sent_at: nullable(instant),
}

/** A message in a list. */
export const messageSummary = schema(t.Object(summaryProperties, { title: 'ListedMessage' }))
export type MessageSummary = TypeOf<typeof messageSummary>

/** One message, with its bodies. */
export const messageView = schema(
  t.Object(
    {
      ...summaryProperties,
      connection_id: nullable(uuid),
      template_id: nullable(uuid),
      record_type: nullable(t.String()),
      record_id: nullable(uuid),
      body_text: nullable(t.String({ description: 'Kept for 30 days; null afterwards.' })),
      body_html: nullable(t.String({ description: 'Null when there is none, and after 30 days.' })),
    },
    { title: 'Message' },
  ),
)
export type MessageView = TypeOf<typeof messageView>

/** Filter and page of messages. */
export const messageQuery = schema(
  t.Object({
    status: t.Optional(t.Enum([...mailStatuses])),
    record_id: t.Optional(t.String({ format: 'uuid', description: 'Only messages about this record.' })),
    ...cursorParameters({ cursor: linkedCursor }),
  }),
)
export type MessageQuery = TypeOf<typeof messageQuery>
