import { findPrincipal } from '#shared/core/people/principals.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope, Services } from '#shared/core/scope/scope.ts'
import { loadWorkspace } from '#shared/core/scope/workspace.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { platformScope } from '#shared/services.ts'

/** The credentials of a request to a workspace whose answer has no end: its rights are read again and again. */
export interface Credentials {
  readonly token: string
  readonly workspaceId: string
  readonly requestId: string
}

/**
 * The scope of a caller by its rights of now, as current as the cache. Undefined once its credentials have ended, it no longer belongs to
 * the workspace, or the workspace is not active.
 */
export async function reenterWorkspace(
  services: Services & { readonly database: Database },
  { token, workspaceId, requestId }: Credentials,
): Promise<Scope | undefined> {
  const { cache, database, now } = services
  const principal = await findPrincipal(cache, database, token, now())
  if (!principal || 'expiredAt' in principal) return undefined
  if (principal.workspaceId !== null && principal.workspaceId !== workspaceId) return undefined
  const workspace = await loadWorkspace(cache, database, workspaceId)
  const actor = workspace?.status === 'active' && (await loadActor(cache, database, workspaceId, principal.id))
  if (!workspace || !actor) return undefined
  const cause = { actorId: principal.id, actorType: principal.type, requestId, depth: 0, kind: 'request', id: null } as const
  const db = database.forWorkspace(workspaceId, workspace.share_id)
  return { ...platformScope(services, db, principal, cause), workspace, actor }
}
