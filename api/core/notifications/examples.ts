import { ids } from '#api/http/example-ids.ts'

export const rule = {
  id: ids.rule,
  name: 'Large orders',
  object_type: 'orders',
  event: 'created',
  title: 'A large order has come in',
  filter: { field: 'order_total', op: 'gte', value: '1000' },
  audience: 'all_members',
  enabled: true,
  created_at: '2026-11-06T08:21:50.044068Z',
  updated_at: '2026-11-06T08:21:50.044068Z',
}
export const pausedRule = { ...rule, enabled: false, updated_at: '2026-11-21T09:30:00.280244Z' }

export const notification = {
  id: ids.notification,
  title: 'A large order has come in',
  object_type: 'orders',
  record_id: ids.order,
  event: 'created',
  read: false,
  created_at: '2026-11-21T09:30:00.912377Z',
}
