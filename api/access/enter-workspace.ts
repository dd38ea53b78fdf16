import { needsNoPermission, type RequestHead, type Resolved } from '#api/http/declaration.ts'
import type { Admitted } from '#api/http/request/read-request.ts'
import type { Route } from '#api/http/route.ts'
import { forbidden, permits, permitsSomewhere } from '#shared/core/scope/access.ts'
import { loadActor, loadVisitor } from '#shared/core/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import { loadWorkspace } from '#shared/core/scope/workspace.ts'
import { dispositionOf, requireNotHalted } from '#shared/platform/kernel/background.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { nameWorkspace } from '#shared/platform/kernel/process/current-request.ts'
import type { RunningCall } from '#shared/platform/kernel/process/running-calls.ts'
import { workOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Retry-After, in seconds, for a workspace that is being set up. */
const setUpRetrySeconds = 2

/**
 * Enters the workspace of a request: 404 when the caller does not belong to it, 403 or 503 when it is suspended or not ready, 404 when the
 * route's app is off or its resource does not exist, 403 when no role allows the route. Runs before the body is read. From here on the call
 * counts for the workspace.
 */
export async function enterWorkspace(
  route: Route,
  platform: PlatformScope,
  orgId: string,
  head: RequestHead<never, unknown>,
  call: RunningCall,
): Promise<Admitted> {
  if (route.permission === 'public') return enterAsVisitor(route, platform, orgId, head, call)
  const { principal, cache, db } = platform
  if (!principal || !isUuid(orgId) || (principal.workspaceId !== null && principal.workspaceId !== orgId.toLowerCase()))
    throw unknownWorkspaceProblem()
  const id = orgId.toLowerCase()
  const workspace = await loadWorkspace(cache, db, id)
  const actor = workspace && (await loadActor(cache, db, id, principal.id))
  if (!workspace || !actor) throw unknownWorkspaceProblem()
  nameWorkspace(id)
  call.countFor(workOwner(id, workspace.share_id))
  requireReady(workspace)
  requireNotHalted({ work: 'request', app: route.app }, workspace)
  const scope: Scope = { ...platform, db: db.forWorkspace(id, workspace.share_id), workspace, actor }
  const resolved = await resolveResource(route, head, scope)
  requirePermission(route, scope, resolved?.key)
  for (const further of route.further ?? []) {
    const key = await further.on({ ...(head as RequestHead<string, unknown>), resource: resolved?.resource }, scope)
    if (key !== undefined) requirePermission({ permission: further.permission }, scope, key)
  }
  return { scope, resource: resolved?.resource }
}

/** The same NOT_FOUND for an unknown workspace and for one that the caller does not belong to. */
const unknownWorkspaceProblem = () =>
  problem('NOT_FOUND', 'No workspace of yours has this id; GET /v1/auth/me lists those that you may call')

/**
 * The resource that the permission is checked on. When the query is invalid, a caller who holds the permission on no resource gets
 * FORBIDDEN instead of VALIDATION_ERROR.
 */
async function resolveResource(route: Route, head: RequestHead<never, unknown>, scope: Scope): Promise<Resolved<unknown> | undefined> {
  try {
    return await route.on?.(head as RequestHead<string, unknown>, scope)
  } catch (error) {
    const isInvalid = error instanceof Problem && error.code === 'VALIDATION_ERROR'
    if (isInvalid && !needsNoPermission(route.permission) && !permitsSomewhere(scope, route.permission))
      requirePermission(route, scope, undefined)
    throw error
  }
}

/**
 * Enters the workspace as visitor. An absent, switched off or private resource gives the same 404 (docs/contract/public.md#visitors). The
 * route's handler checks the permissions of the visitors' roles.
 */
async function enterAsVisitor(
  route: Route,
  platform: PlatformScope,
  orgId: string,
  head: RequestHead<never, unknown>,
  call: RunningCall,
): Promise<Admitted> {
  const { cache, db } = platform
  const id = orgId.toLowerCase()
  const workspace = isUuid(id) ? await loadWorkspace(cache, db, id) : undefined
  if (workspace) {
    nameWorkspace(id)
    call.countFor(workOwner(id, workspace.share_id))
  }
  const isReady = workspace && workspace.status !== 'provisioning'
  if (!isReady || dispositionOf({ work: 'request', app: route.app }, workspace) !== 'runs') throw problem('NOT_FOUND')
  const actor = await loadVisitor(cache, db, id)
  const ownDb = db.forWorkspace(id, workspace.share_id)
  const scope: Scope = { ...platform, db: ownDb, cause: { ...platform.cause, actorType: 'anonymous' }, workspace, actor }
  const resolved = await route.on?.(head as RequestHead<string, unknown>, scope)
  return { scope, resource: resolved?.resource }
}

function requireReady({ status }: Workspace): void {
  if (status === 'provisioning') throw problem('ORG_NOT_READY', undefined, { headers: { 'Retry-After': String(setUpRetrySeconds) } })
}

type RequiredPermission = Pick<Route, 'permission' | 'perItem' | 'onBody'>

function requirePermission(route: RequiredPermission, scope: Scope, resource: string | undefined): void {
  if (needsNoPermission(route.permission)) return
  const { permission, perItem, onBody } = route
  const allowed = perItem || onBody ? permitsSomewhere(scope, permission) : permits(scope, permission, resource)
  if (!allowed) throw forbidden(permission, resource)
}
