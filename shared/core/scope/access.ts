import type { Permission } from '#shared/core/policy/permissions.ts'
import type { Actor } from '#shared/core/scope/actor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Part of a scope that decides access. */
type Caller = { readonly actor: Pick<Actor, 'policy'> }

/**
 * Whether the caller's roles allow a permission on a resource. Without a resource: on every item, or on the workspace itself. For
 * `records:…` true when some records are allowed; `recordAccess` of the policy then selects them.
 */
export const permits = ({ actor }: Caller, permission: Permission, resource?: string): boolean =>
  actor.policy.permits(permission, resource) !== 'never'

/**
 * Whether the caller's roles allow a permission on every item and refuse it on none: what it takes where an item is gone, and with it the key
 * that a rule may name.
 */
export const permitsAll = ({ actor }: Caller, permission: Permission): boolean => actor.policy.permitsAll(permission)

/** Whether the caller's roles allow a permission on at least one resource. Lists use it and then show only those resources. */
export const permitsSomewhere = ({ actor }: Caller, permission: Permission): boolean => actor.policy.permitsSomewhere(permission)

/** Throws FORBIDDEN, naming the permission and the resource if given, unless the caller's roles allow it. */
export function requirePermission(caller: Caller, permission: Permission, resource?: string): void {
  if (!permits(caller, permission, resource)) throw forbidden(permission, resource)
}

/** FORBIDDEN for a caller that lacks a permission. */
export const forbidden = (permission: Permission, resource?: string) =>
  problem('FORBIDDEN', resource === undefined ? `Needs ${permission}` : `Needs ${permission} on ${resource}`)
