import { ids } from '#api/http/example-ids.ts'

/** A signed-in person. */
const ada = { id: ids.owner, email: 'ada@example.com', name: 'Ada Lindqvist' }
const ben = { id: ids.member, email: 'ben@example.com', name: 'Ben Okafor' }

export const session = { token: 'ks_example_session', expires_at: '2026-12-21T09:30:00.000000Z', user: ada }
export const joined = { token: 'ks_example_session', expires_at: '2026-12-21T09:30:00.000000Z', user: ben, org_id: ids.workspace }
export const caller = {
  id: ids.owner,
  type: 'user',
  name: ada.name,
  email: ada.email,
  orgs: [{ id: ids.workspace, name: 'Harbour Coffee' }],
}
