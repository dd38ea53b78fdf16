import { ids } from '#api/http/example-ids.ts'

export const workspace = {
  id: ids.workspace,
  name: 'Harbour Coffee',
  status: 'active',
  plan: 'paid',
  owner_id: ids.owner,
  color: '#0b5c6b',
  logo: null,
  default_currency: 'EUR',
  timezone: 'Europe/Berlin',
  apps: { functions: true, payments: true, queues: true, calendar: true, accounting: true },
  multi_currency: false,
  books_closed_through: null,
  created_at: '2026-11-02T08:12:31.457291Z',
}
export const newWorkspace = {
  ...workspace,
  id: ids.otherWorkspace,
  name: 'Harbour Coffee Academy',
  status: 'provisioning',
  color: null,
  default_currency: 'USD',
  timezone: 'UTC',
  created_at: '2026-11-21T09:30:00.112845Z',
}

export const owner = {
  id: ids.owner,
  type: 'user',
  name: 'Ada Lindqvist',
  email: 'ada@example.com',
  owner: true,
  roles: [],
  created_at: '2026-11-02T08:12:31.457291Z',
}
export const member = {
  id: ids.member,
  type: 'user',
  name: 'Ben Okafor',
  email: 'ben@example.com',
  owner: false,
  roles: [{ id: ids.salesRole, name: 'Sales' }],
  created_at: '2026-11-04T07:45:09.220518Z',
}
export const invitation = {
  id: ids.invitation,
  email: 'carla@example.com',
  roles: [{ id: ids.salesRole, name: 'Sales' }],
  expires_at: '2026-11-28T09:30:00.336000Z',
  created_at: '2026-11-21T09:30:00.336000Z',
}

export const serviceAccount = { id: ids.robot, name: 'Web shop', created_at: '2026-11-05T13:20:44.788627Z' }
export const accessKey = {
  id: ids.accessKey,
  name: 'Production',
  prefix: 'kt_…BLqL',
  expires_at: '2027-11-05T00:00:00.000000Z',
  created_at: '2026-11-05T13:21:02.032060Z',
}
export const newAccessKey = { ...accessKey, key: 'kt_example_key' }
