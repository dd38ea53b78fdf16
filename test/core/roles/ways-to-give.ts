import { type Caller, createMember, createRole, createService } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** Every way to grant rights: each returns the status of granting a role with this policy. */
export const waysToGive = {
  'creating a role': async (w: World, { client }: Caller, policy: readonly object[]) =>
    (await client.post(`${w.org.path}/iam/groups`, { name: 'R', policy })).status,
  'replacing a role': async (w: World, { client }: Caller, policy: readonly object[]) => {
    const role = await createRole(w, w.org, [])
    return (await client.put(`${w.org.path}/iam/groups/${role}`, { name: 'R', policy })).status
  },
  'giving a role to a person': async (w: World, { client }: Caller, policy: readonly object[]) => {
    const [role, { id }] = [await createRole(w, w.org, policy), await createMember(w, w.org)]
    return (await client.post(`${w.org.path}/iam/groups/${role}/members`, { user_id: id })).status
  },
  'giving a role to a service account': async (w: World, { client }: Caller, policy: readonly object[]) => {
    const [role, { id }] = [await createRole(w, w.org, policy), await createService(w, w.org)]
    return (await client.post(`${w.org.path}/iam/groups/${role}/members`, { user_id: id })).status
  },
  'giving a role to oneself': async (w: World, { id, client }: Caller, policy: readonly object[]) => {
    const role = await createRole(w, w.org, policy)
    return (await client.post(`${w.org.path}/iam/groups/${role}/members`, { user_id: id })).status
  },
  'inviting with a role': async (w: World, { client }: Caller, policy: readonly object[]) => {
    const role = await createRole(w, w.org, policy)
    return (await client.post(`${w.org.path}/members`, { email: `${role}@example.com`, role_ids: [role] })).status
  },
  'making a service account with a role': async (w: World, { client }: Caller, policy: readonly object[]) => {
    const role = await createRole(w, w.org, policy)
    return (await client.post(`${w.org.path}/service-accounts`, { name: 'S', role_ids: [role] })).status
  },
  'making a key of a service account with a role': async (w: World, { client }: Caller, policy: readonly object[]) => {
    const { id } = await createService(w, w.org, policy)
    return (await client.post(`${w.org.path}/service-accounts/${id}/keys`, {})).status
  },
}
