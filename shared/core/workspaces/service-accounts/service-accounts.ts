import { requireAssignable } from '#shared/core/roles/grants.ts'
import { giveRoles } from '#shared/core/roles/store.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import {
  deleteServiceAccountRow,
  findServiceAccount,
  insertServiceAccount,
  listServiceAccountRows,
  type ServiceAccount,
} from '#shared/core/workspaces/service-accounts/store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The workspace's service accounts, oldest first. */
export const listServiceAccounts = ({ db, workspace }: Scope): Promise<ServiceAccount[]> =>
  db.query(listServiceAccountRows({ workspaceId: workspace.id }))

/** One service account; NOT_FOUND when the workspace has none with this id. */
export async function getServiceAccount({ db, workspace }: Scope, id: string): Promise<ServiceAccount> {
  return requireRow(isUuid(id) ? await db.query(findServiceAccount({ workspaceId: workspace.id, id })) : [])
}

/** Creates a service account with these roles, which grant no more than the caller holds. */
export async function createServiceAccount(
  scope: Scope,
  { name, role_ids = [] }: { name: string; role_ids?: readonly string[] },
): Promise<ServiceAccount> {
  return scope.db.transaction(async (tx) => {
    const roles = await requireAssignable(within(scope, tx), role_ids)
    const workspaceId = scope.workspace.id
    const account = requireRow(await tx.query(insertServiceAccount({ workspaceId, id: newId(), name: name.trim() })))
    await tx.query(giveRoles({ workspaceId, principalId: account.id, roleIds: roles.map(({ id }) => id) }))
    return account
  })
}

/** Deletes a service account. Its keys are invalid in every process from their next request. */
export function deleteServiceAccount(scope: Scope, id: string): Promise<void> {
  return withAccessLock(scope, 'iam:manage_members', async ({ db, workspace }) => {
    requireRow(isUuid(id) ? await db.query(deleteServiceAccountRow({ workspaceId: workspace.id, id })) : [])
  })
}
