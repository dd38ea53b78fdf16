import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { findWorkspace } from '#shared/core/scope/store.ts'
import { listWorkspaces } from '#shared/core/workspaces/workspaces.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The caller and its workspaces; a key belongs to exactly one. */
export async function describeCaller(scope: PlatformScope) {
  const { principal, db } = scope
  if (!principal) throw problem('UNAUTHORIZED')
  const { id, type, name, email, workspaceId } = principal
  const workspaces = workspaceId === null ? await listWorkspaces(scope) : await db.query(findWorkspace({ id: workspaceId }))
  return {
    id,
    type,
    name,
    ...(email === null ? {} : { email }),
    orgs: workspaces.map((workspace) => ({ id: workspace.id, name: workspace.name })),
  }
}
