import { compilePolicy, type Policy, type SourcedRule } from '#shared/core/policy/evaluate.ts'
import { findActorRow, findVisitorRoles } from '#shared/core/scope/store.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Who acts in a workspace and what it may do. `system` is the platform itself: changes with no signed-in caller. */
export interface Actor {
  readonly id: string | null
  readonly type: 'user' | 'service' | 'anonymous' | 'system'
  readonly name: string
  readonly owner: boolean
  /**
   * The person whose drive, calendars, invitations, shares and inbox the actor reaches. Null for access keys, visitors and the platform, and
   * where work of one person runs for another (`impersonal`). Personal standing is decided by this id, never by `id`.
   */
  readonly personId: string | null
  /** Whether the actor reaches what is open to every member of the workspace, such as a calendar by its visibility. */
  readonly isMember: boolean
  readonly roles: readonly { readonly id: string; readonly name: string }[]
  readonly rules: readonly SourcedRule[]
  readonly policy: Policy
}

interface Row {
  readonly type: 'user' | 'service'
  readonly name: string
  readonly owner: boolean
  readonly roles: readonly { id: string; name: string; policy: readonly SourcedRule[] }[]
}

/**
 * A member or service account of a workspace with the rules of all its roles; undefined when it belongs to the workspace no more.
 * Remembered until anything of it changes.
 */
export function loadActor(cache: Cache, db: Executor, workspaceId: string, principalId: string): Promise<Actor | undefined> {
  return cache.remember(db, workspaceId, `actor ${principalId}`, () => readActor(db, workspaceId, principalId))
}

/** The same as it is now, read past the cache. */
export async function readActor(db: Executor, workspaceId: string, principalId: string): Promise<Actor | undefined> {
  const [row] = await db.query<Row>(findActorRow(workspaceId, principalId))
  return row && actorOf(principalId, row.type, row.name, row.owner, row.roles)
}

/** The visitor: everybody without credentials, with the rules of the roles that are marked `is_anonymous`. */
export function loadVisitor(cache: Cache, db: Executor, workspaceId: string): Promise<Actor> {
  return cache.remember(db, workspaceId, 'visitor', async () => {
    const roles = await db.query<Row['roles'][number]>(findVisitorRoles(workspaceId))
    return actorOf(null, 'anonymous', 'visitor', false, roles)
  })
}

/** The platform itself, which may do everything: set-up, what falls due, chores. */
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

function actorOf(id: string | null, type: 'user' | 'service' | 'anonymous', name: string, owner: boolean, roles: Row['roles']): Actor {
  const rules = roles.flatMap((role) => role.policy.map((rule, index) => ({ ...rule, role_id: role.id, index })))
  const named = roles.map((role) => ({ id: role.id, name: role.name }))
  const isMember = type === 'user'
  const policy = compilePolicy(rules, { id, type, owner })
  return Object.freeze({ id, type, name, owner, personId: isMember ? id : null, isMember, roles: named, rules, policy })
}

/** The actor without its personal standing; its roles and its membership stay. */
export const withoutPersonalStanding = (actor: Actor): Actor =>
  actor.personId === null ? actor : Object.freeze({ ...actor, personId: null })
