import { ids } from '#api/http/example-ids.ts'

export const order = {
  id: ids.order,
  object_type: 'orders',
  created_by: ids.member,
  created_at: '2026-11-21T09:30:00.367000Z',
  updated_at: '2026-11-21T09:30:00.367000Z',
  values: {
    customer: 'Café Lindgren',
    contact_email: null,
    order_total: 128.5,
    order_status: 'open',
    previous_order: ids.previousOrder,
    related_orders: null,
  },
}
export const previousOrder = {
  id: ids.previousOrder,
  object_type: 'orders',
  created_by: ids.member,
  created_at: '2026-11-07T14:05:33.361000Z',
  updated_at: '2026-11-12T08:40:19.204000Z',
  values: {
    customer: 'Café Lindgren',
    contact_email: 'lena@cafe-lindgren.example',
    order_total: 96,
    order_status: 'done',
    previous_order: null,
    related_orders: null,
  },
}

const field = { options: [], computed: false, needed: false, required: false, sometimes_hidden: false }
export const readableOrders = {
  key: 'orders',
  label: 'Orders',
  fields: [
    { ...field, key: 'customer', label: 'Customer', type: 'string', needed: true, required: true },
    { ...field, key: 'order_total', label: 'Total', type: 'number' },
    { ...field, key: 'order_status', label: 'Status', type: 'select', options: ['open', 'done'] },
  ],
}

export const auditEntry = {
  id: ids.audit,
  actor_id: ids.member,
  actor_type: 'user',
  action: 'record.updated',
  object_type: 'orders',
  record_id: ids.order,
  before: { order_status: 'open' },
  after: { order_status: 'done' },
  request_id: 'order-1042-attempt-1',
  cause: { kind: 'request', id: null },
  undo_of: null,
  record: null,
  created_at: '2026-11-21T11:02:48.915000Z',
}

export const ordersFile = `id,created_at,customer,contact_email,order_total,order_status,previous_order,related_orders
${ids.order},2026-11-21T09:30:00.367000Z,Café Lindgren,,128.5,open,${ids.previousOrder},
${ids.previousOrder},2026-11-07T14:05:33.361000Z,Café Lindgren,lena@cafe-lindgren.example,96,done,,
`
