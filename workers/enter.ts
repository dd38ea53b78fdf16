import { problem } from '#shared/kernel/errors.ts'
import { type Actor, loadActor, loadVisitor, system } from '#shared/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/scope/scope.ts'
import { findWorkspace } from '#shared/scope/workspace.ts'

/**
 * Enters a workspace as whoever caused the work, with the rights that it has now; the platform's own work may do everything, also while
 * the workspace is suspended: nobody would ask for it again. NOT_FOUND when the workspace is gone, ORG_SUSPENDED, FORBIDDEN when the caller
 * has left it.
 */
export async function enter(platform: PlatformScope, workspaceId: string): Promise<Scope> {
  const { cache, db } = platform
  const workspace = await cache.remember(db, workspaceId, 'workspace', () => findWorkspace(db, workspaceId))
  if (!workspace) throw problem('NOT_FOUND')
  if (workspace.status === 'suspended' && platform.cause.actorType !== 'system') throw problem('ORG_SUSPENDED')
  const actor = await actorOf(platform, workspaceId)
  if (!actor) throw problem('FORBIDDEN', 'The caller that started this work has left the workspace')
  return { ...platform, workspace, actor }
}

async function actorOf({ cache, db, cause }: PlatformScope, workspaceId: string): Promise<Actor | undefined> {
  if (cause.actorId !== null) return loadActor(cache, db, workspaceId, cause.actorId)
  return cause.actorType === 'anonymous' ? loadVisitor(cache, db, workspaceId) : system
}
