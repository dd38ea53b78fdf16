import type { PolicyRule } from '#shared/core/policy/policy-rules.ts'
import { createRole, listRoles } from '#shared/core/roles/roles.ts'
import type { Role } from '#shared/core/roles/schemas.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { createServiceAccount } from '#shared/core/workspaces/service-accounts/service-accounts.ts'
import type { ServiceAccount } from '#shared/core/workspaces/service-accounts/store.ts'

const everything: PolicyRule = { effect: 'allow', actions: ['*'], resources: '*' }

/** Makes a service account that may do everything, by the role Admin, which is made with the first one. */
export function createAdminAccount(scope: Scope, name: string): Promise<ServiceAccount> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const role = (await listRoles(inside)).find(isAdmin) ?? (await createRole(inside, { name: 'Admin', policy: [everything] }))
    return createServiceAccount(inside, { name, role_ids: [role.id] })
  })
}

/** One rule, allow everything, and no other: a role that was changed since is not given to anybody here. */
const isAdmin = ({ name, policy }: Role): boolean =>
  name === 'Admin' && JSON.stringify(sorted(policy)) === JSON.stringify(sorted([everything]))

const sorted = (policy: readonly PolicyRule[]): unknown[] => policy.map((rule) => Object.entries(rule).sort())
