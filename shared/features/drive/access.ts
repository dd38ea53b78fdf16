import { forbidden, permits } from '#shared/core/scope/access.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { prefixesOf } from '#shared/features/drive/objects/key.ts'
import { findSpace, insertSpaceOnce, type SpaceRow, type SpaceWithModes } from '#shared/features/drive/spaces/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** The key of the space that all members share. */
export const sharedSpaceKey = 'org'

/** An action on a space or on a key in it. */
type SpaceAction = 'read' | 'write' | 'manage'
type Access = Readonly<Record<SpaceAction, boolean>>

const noAccess: Access = { read: false, write: false, manage: false }

/**
 * The space with an id or key, if the caller may perform an action there. `at` is a folder or file, empty text for the whole space, or null
 * for any place in the space. Throws NOT_FOUND when the caller may perform no action there, and FORBIDDEN when it may perform only others
 * (docs/contract/drive.md#access).
 */
export async function requireSpace(scope: Scope, name: string, at: string | null, need: SpaceAction): Promise<SpaceRow> {
  const row = (await readSpace(scope, name, at)) ?? (await createDefaultSpace(scope, name, at))
  const access = row ? accessTo(scope, row, at === null ? row.modes_anywhere : row.modes) : noAccess
  if (!row || !Object.values(access).some(Boolean)) throw problem('NOT_FOUND')
  if (!access[need]) throw forbidden(`drive:${need}`, row.key)
  return row
}

/** The actions that the caller's roles allow in a team's space, or ownership in a personal one. Shares are not considered. */
export function accessByRoleOrOwnership(scope: Scope, space: Pick<SpaceRow, 'key' | 'type' | 'owner_id'>): Access {
  if (space.type === 'user') {
    const { personId } = scope.actor
    const owns = personId !== null && space.owner_id === personId
    return { read: owns, write: owns, manage: owns }
  }
  const may = (need: SpaceAction) => permits(scope, `drive:${need}`, space.key)
  return { read: may('read'), write: may('write'), manage: may('manage') }
}

/**
 * The actions that shares with these modes allow; only members have shares. In a team's space a deny rule refuses them all the same
 * (docs/contract/drive.md#access). Roles do not apply to personal drives.
 */
export function accessByShares({ actor }: Scope, { key, type }: Pick<SpaceRow, 'key' | 'type'>, modes: SpaceWithModes['modes']): Access {
  if (!actor.isMember || modes.length === 0) return noAccess
  const isRefused = (need: SpaceAction) => type !== 'user' && actor.policy.denies(`drive:${need}`, key)
  return { read: !isRefused('read'), write: modes.includes('edit') && !isRefused('write'), manage: false }
}

/** The actions that roles, ownership or shares allow. */
function accessTo(scope: Scope, space: SpaceRow, modes: SpaceWithModes['modes']): Access {
  const { read, write, manage } = accessByRoleOrOwnership(scope, space)
  const shared = accessByShares(scope, space, modes)
  return { read: read || shared.read, write: write || shared.write, manage }
}

/**
 * Creates the shared space, or the caller's main drive, when a caller with access to it names its key for the first time; undefined for
 * another name and without access.
 */
async function createDefaultSpace(scope: Scope, name: string, at: string | null): Promise<SpaceWithModes | undefined> {
  const shared = { key: sharedSpaceKey, type: 'org', owner_id: null } as const
  if (name === sharedSpaceKey && Object.values(accessByRoleOrOwnership(scope, shared)).some(Boolean)) await insertSharedSpace(scope)
  else if (scope.actor.personId !== null && name === mainDriveKeyOf(scope.actor.personId)) await insertMainDrive(scope)
  else return undefined
  return readSpace(scope, name, at)
}

const mainDriveKeyOf = (personId: string): string => `user-${personId}`

/** Creates the space that all members share, unless it exists. */
export const insertSharedSpace = (scope: Scope) =>
  insertDefaultSpace(scope, { key: sharedSpaceKey, name: 'Shared', type: 'org', ownerId: null, isMain: false })

/** Creates the caller's main drive, unless it exists or the caller is no person. */
export async function insertMainDrive(scope: Scope): Promise<void> {
  const { personId, name } = scope.actor
  if (personId === null) return
  await insertDefaultSpace(scope, {
    key: mainDriveKeyOf(personId),
    name: cutText(name, 120),
    type: 'user',
    ownerId: personId,
    isMain: true,
  })
}

const insertDefaultSpace = (
  { db, workspace, now }: Scope,
  space: Pick<Parameters<typeof insertSpaceOnce>[0], 'key' | 'name' | 'type' | 'ownerId' | 'isMain'>,
) => db.query(insertSpaceOnce({ ...space, workspaceId: workspace.id, id: newId(), createdAt: now() }))

async function readSpace(scope: Scope, name: string, at: string | null): Promise<SpaceWithModes | undefined> {
  const { workspace, actor } = scope
  const [id, key] = isUuid(name) ? [name, null] : [null, name]
  const prefixes = at === null ? [] : prefixesOf(at)
  return (await readRows(scope, findSpace({ workspaceId: workspace.id, id, key, personId: actor.personId, prefixes })))[0]
}
