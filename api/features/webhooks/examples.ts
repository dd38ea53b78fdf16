import { ids } from '#api/http/example-ids.ts'

export const input = {
  url: 'https://erp.example.com/hooks/kontor',
  description: 'Orders for the ERP',
  types: ['records.*'],
  object_type: 'orders',
  filter: { field: 'order_status', op: 'eq', value: 'done' },
}

export const webhook = {
  ...input,
  id: ids.webhook,
  service_account_id: null,
  enabled: true,
  status: 'active',
  failing_since: null,
  last_delivery_at: null,
  next_attempt_at: null,
  maker_id: ids.owner,
  created_at: '2026-11-28T10:32:13.694971Z',
  updated_at: '2026-11-28T10:32:13.694971Z',
}

export const withSecret = { ...webhook, secret: 'whsec_example' }

export const delivery = {
  id: ids.webhookDelivery,
  event_seq: 1042,
  status: 'delivered',
  attempts: [{ at: '2026-11-28T11:02:49.115000Z', status: 204, ms: 38, error: null }],
}
export const begun = { ...delivery, status: 'waiting' }
export const test = { ...begun, event_seq: null, attempts: [] }
