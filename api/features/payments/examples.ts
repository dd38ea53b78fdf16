import { ids } from '#api/http/example-ids.ts'

export const connection = {
  id: ids.paymentConnection,
  provider: 'sandbox',
  name: 'Card payments',
  mode: 'test',
  redirect_url: null,
  status: 'unchecked',
  last_checked_at: null,
  created_at: '2026-11-13T09:32:12.186000Z',
  webhook_url: `https://kontor.example.com/webhooks/payments/${ids.paymentConnection}`,
}
export const renamedConnection = { ...connection, name: 'Card payments, test' }
export const checkedConnection = { ...connection, status: 'ok', last_checked_at: '2026-11-21T09:30:00.544000Z' }

export const link = {
  id: ids.paymentLink,
  connection_id: ids.paymentConnection,
  provider: 'sandbox',
  short_url: `https://kontor.example.com/pay/${ids.workspace}/${ids.paymentLink}`,
  amount: '128.50',
  currency: 'EUR',
  status: 'created',
  description: 'Order of Café Lindgren',
  invoice_id: null,
  customer_name: '',
  customer_email: 'lena@cafe-lindgren.example',
  customer_contact: '',
  created_at: '2026-11-21T09:30:00.750000Z',
  expires_at: '2026-12-21T09:30:00.750000Z',
}
export const cancelledLink = { ...link, status: 'cancelled' }
export const timelineEntry = {
  at: link.created_at,
  source: 'person',
  provider_event_id: null,
  provider_payment_id: null,
  before: null,
  after: 'created',
  verdict: 'created',
}

export const overview = {
  receivables: [{ currency: 'EUR', open: '412.00', overdue: '84.00', count: 3 }],
  aging: [{ currency: 'EUR', current: '328.00', d1_30: '84.00', d31_60: '0.00', d61_90: '0.00', d90_plus: '0.00' }],
  top_debtors: [{ name: 'Bakery Holm', email: 'billing@bakery-holm.example', currency: 'EUR', open: '328.00' }],
  oldest_overdue: [
    {
      invoice_id: ids.invoice,
      number: 'INV-00017',
      customer_name: 'Bakery Holm',
      due_date: '2026-11-14',
      amount: '84.00',
      currency: 'EUR',
    },
  ],
  collected: [{ month: '2026-11', currency: 'EUR', amount: '1240.00' }],
  links: { created: 3, paid: 9, cancelled: 1, expired: 0 },
}
