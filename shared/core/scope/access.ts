import type { Permission } from '#shared/core/policy/permissions.ts'
import type { Actor } from '#shared/core/scope/actor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The part of a scope that access is decided by. */
type Caller = { readonly actor: Pick<Actor, 'policy'> }

/**
 * Whether the caller's roles allow a permission on a resource; without one, on every item or on the workspace itself. For `records:…` this
 * is true when some records are allowed: `recordAccess` of the policy then says which.
 */
export const permits = ({ actor }: Caller, permission: Permission, resource?: string): boolean =>
  actor.policy.permits(permission, resource) !== 'never'

/** Whether there is any resource on which the caller's roles allow a permission: for lists, which then show only those. */
export const permitsSomewhere = ({ actor }: Caller, permission: Permission): boolean => actor.policy.permitsSomewhere(permission)

/** Throws FORBIDDEN that names the permission, and the resource when one is given, unless the caller's roles allow it. */
export function requirePermission(caller: Caller, permission: Permission, resource?: string): void {
  if (!permits(caller, permission, resource)) throw forbidden(permission, resource)
}

/** The refusal of a caller that lacks a permission. */
export const forbidden = (permission: Permission, resource?: string) =>
  problem('FORBIDDEN', resource === undefined ? `Needs ${permission}` : `Needs ${permission} on ${resource}`)
