import { forbidden, permits } from '#shared/core/scope/access.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { prefixesOf } from '#shared/features/drive/objects/key.ts'
import { findSpace, insertSpaceOnce, type SpaceRow, type SpaceWithModes } from '#shared/features/drive/spaces/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The key of the space that all members share. */
export const sharedSpaceKey = 'org'

/** An action on a space or on a key in it. */
type SpaceAction = 'read' | 'write' | 'manage'
type Access = Readonly<Record<SpaceAction, boolean>>

const noAccess: Access = { read: false, write: false, manage: false }

/**
 * The space with an id or key, if the caller may perform an action there. `at` is a folder or file, empty text for the whole space, or null
 * for any place in the space. Throws NOT_FOUND when the caller may perform no action there, and FORBIDDEN when it may perform only others
 * (document 3, Authentication).
 */
export async function requireSpace(scope: Scope, name: string, at: string | null, need: SpaceAction): Promise<SpaceRow> {
  const row = (await readSpace(scope, name, at)) ?? (await createSharedSpace(scope, name, at))
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

/** Adds the access by shares, which only members have, to the access by roles or ownership. */
function accessTo(scope: Scope, space: SpaceRow, modes: SpaceWithModes['modes']): Access {
  const { read, write, manage } = accessByRoleOrOwnership(scope, space)
  if (!scope.actor.isMember) return { read, write, manage }
  return { read: read || modes.length > 0, write: write || modes.includes('edit'), manage }
}

/** Creates the shared space when a caller with access to it names it for the first time; undefined for another name and without access. */
async function createSharedSpace(scope: Scope, name: string, at: string | null): Promise<SpaceWithModes | undefined> {
  const shared = { key: sharedSpaceKey, type: 'org', owner_id: null } as const
  if (name !== sharedSpaceKey || !Object.values(accessByRoleOrOwnership(scope, shared)).some(Boolean)) return undefined
  await insertSharedSpace(scope)
  return readSpace(scope, name, at)
}

/** Creates the space that all members share, unless it exists. */
export const insertSharedSpace = ({ db, workspace, now }: Scope) =>
  db.query(
    insertSpaceOnce({
      ...{ workspaceId: workspace.id, id: newId(), key: sharedSpaceKey, name: 'Shared', type: 'org' },
      ...{ ownerId: null, isMain: false, createdAt: now() },
    }),
  )

async function readSpace(scope: Scope, name: string, at: string | null): Promise<SpaceWithModes | undefined> {
  const { workspace, actor } = scope
  const [id, key] = isUuid(name) ? [name, null] : [null, name]
  const prefixes = at === null ? [] : prefixesOf(at)
  return (await readRows(scope, findSpace({ workspaceId: workspace.id, id, key, personId: actor.personId, prefixes })))[0]
}
