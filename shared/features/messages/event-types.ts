import { defineEvents } from '#shared/core/events/show-stored.ts'
import { nullable, t, uuid } from '#shared/platform/kernel/schema.ts'

const common = {
  subject: t.Object({ id: t.String({ format: 'uuid', description: 'Of the message.' }) }, { title: 'MessageSubject' }),
  data: t.Object(
    { connection_id: nullable(uuid), template_id: nullable(uuid), record_type: nullable(t.String()), record_id: nullable(uuid) },
    { title: 'MessageData' },
  ),
  example: {
    subject: { id: '01a1a2f1-66c0-7d3f-8a54-3c1b9e7d2f40' },
    data: {
      connection_id: '01a19c02-7be4-7f19-a1d8-64c50f2b8e93',
      template_id: null,
      record_type: 'orders',
      record_id: '01a19de5-7f04-7213-9771-5ae204c7a91c',
    },
  },
}

export const messageEvents = defineEvents('messages:manage', [
  { ...common, type: 'messages.sent', description: 'The server has taken a message.' },
  { ...common, type: 'messages.failed', description: 'A message is not sent: it was refused for good, or tried in vain.' },
  { ...common, type: 'messages.bounced', description: 'The mailbox of a message does not exist, or the provider reported a bounce.' },
])
