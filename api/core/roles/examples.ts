import { ids } from '#api/http/example-ids.ts'

export const salesPolicy = [
  { effect: 'allow', actions: ['records:read', 'records:create', 'records:update'], resources: ['orders'] },
  { effect: 'allow', actions: ['records:read'], resources: ['invoices'], fields: { deny: ['notes'] } },
]

export const role = {
  id: ids.salesRole,
  name: 'Sales',
  description: 'Takes orders.',
  policy: salesPolicy,
  is_anonymous: false,
  created_at: '2026-11-03T10:02:11.318204Z',
  updated_at: '2026-11-03T10:02:11.318204Z',
}
export const changedRole = { ...role, name: 'Sales and service', updated_at: '2026-11-21T09:30:00.604118Z' }
export const ownPolicy = {
  principal: { id: ids.member, type: 'user', name: 'Ben Okafor' },
  owner: false,
  roles: [{ id: ids.salesRole, name: 'Sales' }],
  policy: salesPolicy,
}
export const decision = {
  allowed: true,
  effect: 'allow',
  matched: {
    effect: 'allow',
    actions: ['records:read'],
    resources: ['invoices'],
    fields: { deny: ['notes'] },
    role_id: ids.salesRole,
    index: 1,
  },
}
