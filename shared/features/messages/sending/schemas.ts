import { messageLimits } from '#shared/features/messages/templates/schemas.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { mailStatuses } from '#shared/platform/mail/mail.ts'

const id = (description: string) => t.Optional(nullable(t.String({ maxLength: 200, description })))
const words = (most: number, description: string) => t.Optional(nullable(t.String({ maxLength: most, description })))

/** What is said to send a message: to an SDK method and in a flow's block. Empty text counts as left out. */
export const messageInput = schema(
  t.Object(
    {
      connection_id: t.String({ maxLength: 200, description: 'By which it goes out.' }),
      template_id: id('What it says, unless said here.'),
      to: words(320, 'The address; else the field of the record has it.'),
      record_type: id('Key of the type of the record that it is about.'),
      record_id: id('The record that it is about.'),
      to_field: id('Key of the field of that record that has the address.'),
      subject: words(messageLimits.subject, 'In place of that of the template.'),
      body_text: words(messageLimits.body, 'The same.'),
      body_html: words(messageLimits.body, 'The same.'),
      vars: t.Optional(
        nullable(
          t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Null()]), { description: 'What {{name}} stands for.' }),
        ),
      ),
    },
    { title: 'MessageInput' },
  ),
)
export type MessageInput = TypeOf<typeof messageInput>

/** What has become of sending a message. */
export interface SentMessage {
  readonly message_id: string
  /** Whether it will not go out because its recipient wants none. */
  readonly skipped: boolean
}

const listed = {
  id: t.String({ format: 'uuid' }),
  to: t.String(),
  subject: t.String(),
  status: t.Enum([...mailStatuses], {
    description:
      'uncertain: the connection broke after the server had the whole of it. bounced: there is no such mailbox. skipped: the recipient wants none.',
  }),
  attempts: t.Integer(),
  error: nullable(t.String({ description: 'Why the last try failed, in the words of the server.' })),
  created_at: t.String({ format: 'date-time' }),
  sent_at: nullable(t.String({ format: 'date-time' })),
}

/** A message as it is listed. */
export const messageSummary = schema(t.Object(listed, { title: 'ListedMessage' }))
export type MessageSummary = TypeOf<typeof messageSummary>

/** One message, with what it said. */
export const messageView = schema(
  t.Object(
    {
      ...listed,
      connection_id: nullable(t.String({ format: 'uuid' })),
      template_id: nullable(t.String({ format: 'uuid' })),
      record_type: nullable(t.String()),
      record_id: nullable(t.String({ format: 'uuid' })),
      body_text: nullable(t.String({ description: 'Kept for 30 days; null afterwards.' })),
      body_html: nullable(t.String({ description: 'Null when there is none, and after 30 days.' })),
    },
    { title: 'Message' },
  ),
)
export type MessageView = TypeOf<typeof messageView>

/** Which messages are asked for. */
export const messageQuery = schema(
  t.Object({
    status: t.Optional(t.Enum([...mailStatuses])),
    record_id: t.Optional(t.String({ format: 'uuid', description: 'Those about this record.' })),
    limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: t.Optional(t.String({ description: 'The id of the last message of the previous page.' })),
  }),
)
export type MessageQuery = TypeOf<typeof messageQuery>
