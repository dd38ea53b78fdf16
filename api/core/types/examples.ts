import { ids } from '#api/http/example-ids.ts'

export const orders = {
  id: ids.ordersType,
  key: 'orders',
  label: 'Orders',
  icon: 'shopping-bag',
  app: 'sales',
  ui: {},
  description: 'What customers have ordered.',
  record_count: 214,
  created_at: '2026-11-03T09:14:27.741767Z',
  system: false,
}
export const newOrders = { ...orders, app: '', description: '', record_count: 0 }
export const invoices = {
  key: 'invoices',
  label: 'Invoices',
  icon: 'receipt',
  app: '',
  ui: {},
  description: '',
  record_count: 187,
  created_at: '2026-11-02T08:12:31.457291Z',
  system: true,
}

export const sales = { slug: 'sales', name: 'Sales', glyph: '🛒', category: 'Business', position: 1 }

const field = {
  entity_type: 'orders',
  required: false,
  unique: false,
  immutable: false,
  autogen: '',
  description: '',
  rules: {},
  system: false,
}
export const orderTotal = {
  ...field,
  id: ids.orderTotalField,
  key: 'order_total',
  label: 'Total',
  type: 'number',
  rules: { min: 0 },
  created_at: '2026-11-03T09:15:02.904561Z',
}
export const describedTotal = { ...orderTotal, description: 'Net, in euros.' }
export const orderNumber = {
  ...field,
  id: ids.orderNumberField,
  key: 'order_number',
  label: 'Order number',
  type: 'string',
  autogen: 'ORD-{seq}',
  created_at: '2026-11-03T09:15:20.336997Z',
}
export const orderTitle = {
  ...field,
  id: ids.orderTitleField,
  key: 'order_title',
  label: 'Title',
  type: 'string',
  rules: { formula: 'CONCAT("Order of ", customer)' },
  created_at: '2026-11-03T09:16:41.597720Z',
}
export const previousOrder = {
  ...field,
  id: ids.previousOrderField,
  key: 'previous_order',
  label: 'Previous order',
  type: 'ref',
  rules: { ref_type: 'orders' },
  created_at: '2026-11-03T09:17:05.065286Z',
}
