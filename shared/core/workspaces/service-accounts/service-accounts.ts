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
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The workspace's service accounts, oldest first. */
export const listServiceAccounts = ({ db, workspace }: Scope): Promise<ServiceAccount[]> => listServiceAccountRows(db, workspace.id)

/** One service account; NOT_FOUND when the workspace has none with this id. */
export async function getServiceAccount({ db, workspace }: Scope, id: string): Promise<ServiceAccount> {
  const found = isUuid(id) ? await findServiceAccount(db, workspace.id, id) : undefined
  if (!found) throw problem('NOT_FOUND')
  return found
}

/** Creates a service account with these roles, which grant no more than the caller holds. */
export async function createServiceAccount(
  scope: Scope,
  { name, role_ids = [] }: { name: string; role_ids?: readonly string[] },
): Promise<ServiceAccount> {
  return scope.db.transaction(async (tx) => {
    const roles = await requireAssignable(within(scope, tx), role_ids)
    const account = await insertServiceAccount(tx, scope.workspace.id, newId(), name.trim())
    const roleIds = roles.map(({ id }) => id)
    await giveRoles(tx, scope.workspace.id, account.id, roleIds)
    return account
  })
}

/** Deletes a service account. Its keys are invalid in every process from their next request. */
export function deleteServiceAccount(scope: Scope, id: string): Promise<void> {
  return withAccessLock(scope, 'iam:manage_members', async ({ db, workspace }) => {
    const isDeleted = isUuid(id) && (await deleteServiceAccountRow(db, workspace.id, id))
    if (!isDeleted) throw problem('NOT_FOUND')
  })
}
