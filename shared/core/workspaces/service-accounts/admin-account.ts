import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { createRole, listRoles } from '#shared/core/roles/roles.ts'
import type { Role } from '#shared/core/roles/store.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { createServiceAccount } from '#shared/core/workspaces/service-accounts/service-accounts.ts'
import type { ServiceAccount } from '#shared/core/workspaces/service-accounts/store.ts'

const allowEverything: PolicyRule = { effect: 'allow', actions: ['*'], resources: '*' }

/** Creates a service account that holds the role Admin, which allows everything. The role is created with the first such account. */
export function createAdminAccount(scope: Scope, name: string): Promise<ServiceAccount> {
  return scope.db.transaction(async (tx) => {
    const transactionScope = within(scope, tx)
    const role =
      (await listRoles(transactionScope)).find(isAdmin) ??
      (await createRole(transactionScope, { name: 'Admin', policy: [allowEverything] }))
    return createServiceAccount(transactionScope, { name, role_ids: [role.id] })
  })
}

/** Whether the role is named Admin and its only rule is `allowEverything`. A role Admin that was changed is not reused. */
const isAdmin = ({ name, policy }: Role): boolean =>
  name === 'Admin' && JSON.stringify(toComparable(policy)) === JSON.stringify(toComparable([allowEverything]))

const toComparable = (policy: readonly PolicyRule[]): unknown[] => policy.map((rule) => Object.entries(rule).sort())
