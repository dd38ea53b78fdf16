import { ids } from '#api/http/example-ids.ts'

export const connection = {
  id: ids.mailConnection,
  name: 'Shop mail',
  host: 'mail.example.com',
  port: 587,
  secure: false,
  username: 'shop@example.com',
  from: 'shop@example.com',
  dkim: { domain: 'example.com', selector: 'kontor' },
  webhook_url: `https://kontor.example.com/webhooks/messages/${ids.mailConnection}`,
  status: 'unchecked',
  error: null,
  warnings: [],
  checked_at: null,
  created_at: '2026-11-06T07:32:03.611000Z',
  updated_at: '2026-11-06T07:32:03.611000Z',
}
export const newConnection = {
  ...connection,
  dkim: null,
  warnings: ['Messages are not signed with DKIM: mail programs show no button to unsubscribe, and may take them for spam'],
  webhook_secret: 'example-webhook-secret',
}
export const renamedConnection = { ...connection, name: 'Orders mail', updated_at: '2026-11-21T09:30:00.806000Z' }
export const checkedConnection = { ...connection, status: 'ok', checked_at: '2026-11-21T09:30:00.976000Z' }

export const templateSummary = {
  id: ids.template,
  name: 'Order received',
  subject: 'Your order of {{total}} EUR',
  created_at: '2026-11-06T08:04:04.133000Z',
  updated_at: '2026-11-06T08:04:04.133000Z',
}
export const messageTemplate = {
  ...templateSummary,
  body_text: 'Hello {{name}},\n\nwe have received your order.',
  body_html: '<p>Hello {{name}},</p><p>we have received your order.</p>',
}
export const changedTemplate = { ...messageTemplate, subject: 'We have your order, {{name}}', updated_at: '2026-11-21T09:30:00.323000Z' }

export const stopped = {
  address: 'lena@cafe-lindgren.example',
  reason: 'unsubscribed',
  message_id: ids.message,
  created_at: '2026-11-21T10:14:04.506217Z',
}

export const listedMessage = {
  id: ids.message,
  to: 'lena@cafe-lindgren.example',
  subject: 'Your order of 128.50 EUR',
  status: 'sent',
  attempts: 1,
  error: null,
  created_at: '2026-11-21T09:30:00.777597Z',
  sent_at: '2026-11-21T09:30:01.204118Z',
}
export const message = {
  ...listedMessage,
  connection_id: ids.mailConnection,
  template_id: ids.template,
  record_type: 'orders',
  record_id: ids.order,
  body_text: 'Hello Lena,\n\nwe have received your order.',
  body_html: '<p>Hello Lena,</p><p>we have received your order.</p>',
}
