import { prefixesOf } from '#shared/drive/key.ts'
import { findSpace, insertSpaceOnce } from '#shared/drive/store/spaces.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid, newId } from '#shared/kernel/ids.ts'
import { forbidden, permits } from '#shared/scope/access.ts'
import { readRows, type Scope } from '#shared/scope/scope.ts'

/** A space as the drive works with it. */
export interface FoundSpace {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly type: 'user' | 'org' | 'custom'
  readonly owner_id: string | null
  readonly is_main: boolean
  readonly created_at: string
}

/** The key of the space that a workspace shares. */
export const orgKey = 'org'

interface Row extends FoundSpace {
  readonly modes: readonly ('view' | 'edit')[]
  readonly modes_anywhere: readonly ('view' | 'edit')[]
}

/** What is asked of a space or of a place in it. */
export type Need = 'read' | 'write' | 'manage'
type Access = Readonly<Record<Need, boolean>>

const nothing: Access = { read: false, write: false, manage: false }

/**
 * The space that an id or key names, where the caller may do what is needed at a place in it: a folder, a file, empty text for all of it,
 * or null for any place at all. NOT_FOUND where it has no standing, FORBIDDEN where it may see and not do this (document 3,
 * Authentication).
 */
export async function requireSpace(scope: Scope, name: string, at: string | null, need: Need): Promise<FoundSpace> {
  const row = (await readSpace(scope, name, at)) ?? (await makeShared(scope, name, at))
  const access = row ? accessTo(scope, row, at === null ? row.modes_anywhere : row.modes) : nothing
  if (!row || !Object.values(access).some(Boolean)) throw problem('NOT_FOUND')
  if (!access[need]) throw forbidden(`drive:${need}`, row.key)
  return row
}

/** What the caller's roles allow in a space of the team, or ownership in a personal one. */
export function ownAccess(scope: Scope, space: Pick<FoundSpace, 'key' | 'type' | 'owner_id'>): Access {
  if (space.type === 'user') {
    const { personId } = scope.actor
    const owns = personId !== null && space.owner_id === personId
    return { read: owns, write: owns, manage: owns }
  }
  const may = (need: Need) => permits(scope, `drive:${need}`, space.key)
  return { read: may('read'), write: may('write'), manage: may('manage') }
}

/** A share reaches people; what it gives is added to what the caller's roles allow. */
function accessTo(scope: Scope, space: FoundSpace, modes: Row['modes']): Access {
  const { read, write, manage } = ownAccess(scope, space)
  if (!scope.actor.isMember) return { read, write, manage }
  return { read: read || modes.length > 0, write: write || modes.includes('edit'), manage }
}

/** The shared space, which is made when it is first named by a caller who may do anything in it; undefined for any other name. */
async function makeShared(scope: Scope, name: string, at: string | null): Promise<Row | undefined> {
  const shared = { key: orgKey, type: 'org', owner_id: null } as const
  if (name !== orgKey || !Object.values(ownAccess(scope, shared)).some(Boolean)) return undefined
  await insertShared(scope)
  return readSpace(scope, name, at)
}

/** Makes the space that the workspace shares, unless it is there. */
export const insertShared = ({ db, workspace, now }: Scope) =>
  db.query(insertSpaceOnce(workspace.id, newId(), orgKey, 'Shared', 'org', null, false, now()))

async function readSpace(scope: Scope, name: string, at: string | null): Promise<Row | undefined> {
  const { workspace, actor } = scope
  const [id, key] = isUuid(name) ? [name, null] : [null, name]
  const prefixes = at === null ? [] : prefixesOf(at)
  return (await readRows<Row>(scope, findSpace(workspace.id, id, key, actor.personId, prefixes)))[0]
}
