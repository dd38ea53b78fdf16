import { compilePolicy, type Policy, type SourcedRule } from '#shared/core/policy/evaluate.ts'
import { findActorRow, findVisitorRoles, type RoleWithPolicy } from '#shared/core/scope/store.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Identity and rights of the caller in a workspace. `system` is the platform itself: changes without a signed-in caller. */
export interface Actor {
  readonly id: string | null
  readonly type: 'user' | 'service' | 'anonymous' | 'system'
  readonly name: string
  readonly owner: boolean
  /**
   * The person whose drive, calendars, invitations, shares and inbox the actor reaches. Null for access keys, visitors, the platform, and
   * where work of one person runs for another (`withoutPersonalStanding`). Personal standing is decided by this id, never by `id`.
   */
  readonly personId: string | null
  /** Whether the actor reaches resources open to every member of the workspace, such as a calendar by its visibility. */
  readonly isMember: boolean
  readonly roles: readonly { readonly id: string; readonly name: string }[]
  readonly rules: readonly SourcedRule[]
  readonly policy: Policy
}

/**
 * A member or service account of a workspace with the rules of all its roles; undefined when it no longer belongs to the workspace.
 * Cached until the account or one of its roles changes.
 */
export function loadActor(cache: Cache, db: Executor, workspaceId: string, principalId: string): Promise<Actor | undefined> {
  return cache.remember(db, workspaceId, `actor ${principalId}`, () => readActor(db, workspaceId, principalId))
}

/** Same as `loadActor`, read from the database without the cache. */
export async function readActor(db: Executor, workspaceId: string, principalId: string): Promise<Actor | undefined> {
  const [row] = await db.query(findActorRow({ workspaceId, principalId }))
  return row && buildActor(principalId, row.type, row.name, row.owner, row.roles)
}

/** The actor of callers without credentials, with the rules of the roles marked `is_anonymous`. Cached. */
export function loadVisitor(cache: Cache, db: Executor, workspaceId: string): Promise<Actor> {
  return cache.remember(db, workspaceId, 'visitor', async () => {
    const roles = await db.query(findVisitorRoles({ workspaceId }))
    return buildActor(null, 'anonymous', 'visitor', false, roles)
  })
}

/** The platform itself, allowed everything: workspace set-up, due work, maintenance. */
export const systemActor: Actor = Object.freeze({
  id: null,
  type: 'system',
  name: 'Kontor',
  owner: true,
  personId: null,
  isMember: false,
  roles: [],
  rules: [],
  policy: compilePolicy([], { id: null, type: 'service', owner: true }),
})

function buildActor(
  id: string | null,
  type: 'user' | 'service' | 'anonymous',
  name: string,
  owner: boolean,
  roles: readonly RoleWithPolicy[],
): Actor {
  const rules = roles.flatMap((role) => role.policy.map((rule, index) => ({ ...rule, role_id: role.id, index })))
  const roleNames = roles.map((role) => ({ id: role.id, name: role.name }))
  const isMember = type === 'user'
  const policy = compilePolicy(rules, { id, type, owner })
  return Object.freeze({ id, type, name, owner, personId: isMember ? id : null, isMember, roles: roleNames, rules, policy })
}

/** The actor without personal standing. Roles and membership stay. */
export const withoutPersonalStanding = (actor: Actor): Actor =>
  actor.personId === null ? actor : Object.freeze({ ...actor, personId: null })
