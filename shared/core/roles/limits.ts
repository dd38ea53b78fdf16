import { isDeepStrictEqual } from 'node:util'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import {
  countLargeHolders,
  findLargePrincipals,
  findLargeRoles,
  findLargeVisitors,
  findPrincipalSize,
  findVisitorSize,
} from '#shared/core/roles/limits-store.ts'
import type { Role } from '#shared/core/roles/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The most that a role and a principal may have (docs/contract/limits.md#roles-and-rules). Every statement that a caller's rules limit
 * holds their conditions. Bytes are those of compact JSON. What was larger before stays until it grows.
 */
export const roleLimits = { policyBytes: 65_536, roles: 50, principalBytes: 262_144 } as const

const bytesOf = (policy: readonly PolicyRule[]): number => Buffer.byteLength(JSON.stringify(policy))

/** Throws VALIDATION_ERROR for a policy above 64 KB, unless it is the role's present one. */
export function requirePolicySize(policy: readonly PolicyRule[], before: readonly PolicyRule[] = []): void {
  const bytes = bytesOf(policy)
  if (bytes <= roleLimits.policyBytes || isDeepStrictEqual(before, policy)) return
  throw problem('VALIDATION_ERROR', `policy must have at most 64 KB (${roleLimits.policyBytes} bytes of compact JSON), got ${bytes} bytes`)
}

/** Throws VALIDATION_ERROR when these roles are more than a principal may hold. `path` names them in the message. */
export function requireHoldable(roles: readonly Role[], path: string): void {
  refuseExcess({ roles: roles.length, bytes: roles.reduce((sum, { policy }) => sum + bytesOf(policy), 0) }, path, 'A member or account')
}

interface TransactionScope {
  readonly db: Executor
  readonly workspace: { readonly id: string }
}

/**
 * Throws VALIDATION_ERROR when the principal holds more than it may. Call it in the transaction that gave it a role, with the lock that lets
 * one caller at a time give roles to it. `path` begins the message.
 */
export async function requirePrincipalSize({ db, workspace }: TransactionScope, principalId: string, path: string): Promise<void> {
  const [size] = await db.query(findPrincipalSize({ workspaceId: workspace.id, principalId }))
  if (size) refuseExcess(size, path, 'A member or account')
}

/**
 * Throws VALIDATION_ERROR when a changed role takes its holders, or the visitors, beyond what they may have, with the number of holders. A role
 * that does not grow is not checked. Call it in the transaction of the change, with the lock of the role.
 */
export async function requireHoldersWithin({ db, workspace }: TransactionScope, before: Role | undefined, after: Role): Promise<void> {
  const isNewForVisitors = after.is_anonymous && !before?.is_anonymous
  if (before && !isNewForVisitors && bytesOf(after.policy) <= bytesOf(before.policy)) return
  if (after.is_anonymous) {
    const [size] = await db.query(findVisitorSize({ workspaceId: workspace.id }))
    if (size) refuseExcess(size, 'is_anonymous', 'Visitors')
    return
  }
  if (!before) return
  const [{ holders } = { holders: 0 }] = await db.query(
    countLargeHolders({ workspaceId: workspace.id, roleId: after.id, most: roleLimits.principalBytes }),
  )
  if (holders === 0) return
  throw problem(
    'VALIDATION_ERROR',
    `policy takes ${holders === 1 ? '1 holder' : `${holders} holders`} of the role beyond 256 KB of policies together; shorten it or take roles from them`,
  )
}

function refuseExcess({ roles, bytes }: { readonly roles: number; readonly bytes: number }, path: string, who: string): void {
  if (roles > roleLimits.roles)
    throw problem('VALIDATION_ERROR', `${path}: ${who} may have at most ${roleLimits.roles} roles, got ${roles}`)
  if (bytes > roleLimits.principalBytes)
    throw problem(
      'VALIDATION_ERROR',
      `${path}: the policies of all roles of one holder may have at most 256 KB (${roleLimits.principalBytes} bytes of compact JSON), got ${bytes} bytes`,
    )
}

/** Roles and principals of all workspaces that an earlier release let grow beyond the limits: one line for each. */
export async function listLargeRights(db: Executor): Promise<string[]> {
  const { policyBytes, roles: mostRoles, principalBytes: mostBytes } = roleLimits
  const kb = (bytes: number) => `${Math.ceil(bytes / 1_024)} KB`
  const [roles, principals, visitors] = [
    await db.query(findLargeRoles({ most: policyBytes })),
    await db.query(findLargePrincipals({ mostRoles, mostBytes })),
    await db.query(findLargeVisitors({ mostRoles, mostBytes })),
  ]
  return [
    ...roles.map(({ workspace_id, id, name, bytes }) => `workspace ${workspace_id}: role ${id} (${name}) has ${kb(bytes)} of 64 KB`),
    ...principals.map(
      ({ workspace_id, id, name, roles, bytes }) =>
        `workspace ${workspace_id}: ${id} (${name}) has ${roles} of 50 roles and ${kb(bytes)} of 256 KB of policies`,
    ),
    ...visitors.map(
      ({ workspace_id, roles, bytes }) =>
        `workspace ${workspace_id}: visitors have ${roles} of 50 roles and ${kb(bytes)} of 256 KB of policies`,
    ),
  ]
}
