import { forbidden } from '#shared/core/scope/access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { accessByRoleOrOwnership } from '#shared/features/drive/access.ts'
import { checkKey, isFolder, type KeyRange, movingKeys, rangeOf } from '#shared/features/drive/objects/key.ts'
import { requirePlace } from '#shared/features/drive/objects/place.ts'
import { countRange, deleteDuplicateFolders, deleteRange, moveRange, type RangeCounts } from '#shared/features/drive/objects/store.ts'
import { addUsage } from '#shared/features/drive/quota.ts'
import { deleteSharesIn, findWidenedShare, moveShares } from '#shared/features/drive/shares/store.ts'
import { lockSpace } from '#shared/features/drive/spaces/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Maximum number of files that one move or deletion may touch (docs/contract/drive.md#moves). */
const maxFiles = 2_000

/** A range of keys in a space. */
interface SpaceRange extends KeyRange {
  readonly workspaceId: string
  readonly spaceId: string
}

/**
 * Deletes a file, or a folder with everything in it, and its shares. Returns the number of deleted files, 0 for a missing folder. Throws as
 * `requireSpace` does, NOT_FOUND for a missing file, and VALIDATION_ERROR for more than 2,000 files.
 */
export async function removeObjects(scope: Scope, spaceName: string, sentKey: string): Promise<number> {
  checkKey(sentKey)
  const { space, key } = await requirePlace(scope, spaceName, sentKey, 'write')
  const { workspace } = scope
  const range = { workspaceId: workspace.id, spaceId: space.id, ...rangeOf(key) }
  return scope.db.transaction(async (tx) => {
    await tx.query(lockSpace({ workspaceId: workspace.id, id: space.id }))
    await countWithinLimit(tx, range)
    const [gone] = await tx.query(deleteRange({ ...range, cause: JSON.stringify(scope.cause) }))
    if (!gone || (gone.files === 0 && !isFolder(key))) throw problem('NOT_FOUND')
    if (gone.files > maxFiles) throw tooMany()
    await tx.query(deleteSharesIn(range))
    await addUsage(within(scope, tx), -gone.bytes)
    if (gone.files > 0) wakeNumbering(within(scope, tx), 'soon')
    return gone.files
  })
}

/**
 * Moves a file, or a folder with everything in it, and its shares, without copying bytes. Returns the number of moved files. A folder is
 * merged into an existing one, which needs the right to share where a share would then cover files that were there before. Throws
 * NOT_FOUND, FORBIDDEN, KEY_TAKEN where a file already has the new key, and VALIDATION_ERROR when one
 * key is a file's and the other a folder's, for an unchanged key, a folder moved into itself, more than 2,000 files, and keys that would be
 * too long.
 */
export async function moveObjects(scope: Scope, spaceName: string, sentFrom: string, sentTo: string): Promise<number> {
  checkKey(sentFrom, 'from')
  checkKey(sentTo, 'to')
  if (isFolder(sentFrom) !== isFolder(sentTo)) throw problem('VALIDATION_ERROR', 'from and to must both be files or both be folders')
  const { space: found, key: from } = await requirePlace(scope, spaceName, sentFrom, 'write')
  const { key: to } = await requirePlace(scope, spaceName, sentTo, 'write')
  if (from === to) throw problem('VALIDATION_ERROR', 'to must differ from from')
  if (isFolder(from) && to.startsWith(from)) throw problem('VALIDATION_ERROR', 'to must not be inside from')
  const { id, ...space } = found
  const { workspace } = scope
  const range = { workspaceId: workspace.id, spaceId: id, ...rangeOf(from) }
  return scope.db.transaction(async (tx) => {
    await tx.query(lockSpace({ workspaceId: workspace.id, id }))
    const { rows, longest } = await countWithinLimit(tx, range)
    if (rows === 0) throw problem('NOT_FOUND')
    if (longest - Buffer.byteLength(from) + Buffer.byteLength(to) > 1024) {
      throw problem('VALIDATION_ERROR', 'to must leave every key at most 1024 bytes')
    }
    const mayShare = accessByRoleOrOwnership(scope, space).manage
    if (!mayShare && (await tx.query(findWidenedShare({ ...range, newFirst: to }))).length > 0) throw forbidden('drive:manage', space.key)
    await tx.query(deleteDuplicateFolders({ ...range, newFirst: to }))
    const files = await moveInSteps(within(scope, tx), range, to)
    await tx.query(moveShares({ ...range, newFirst: to }))
    return files
  })
}

/** Moves a range. A folder moves into its own ancestor in two steps: in one, a key could collide with a key that has not moved yet. */
async function moveInSteps(scope: Scope, range: SpaceRange, to: string): Promise<number> {
  const isUpward = range.first.startsWith(to)
  const last = { ...range, origin: range.first }
  const steps = isUpward
    ? [
        { ...range, origin: null, newFirst: movingKeys.first + to },
        { ...last, ...movingKeys, newFirst: '' },
      ]
    : [{ ...last, newFirst: to }]
  const cause = JSON.stringify(scope.cause)
  let files = 0
  for (const step of steps) {
    files = (await scope.db.query(moveRange({ ...step, target: to, cause })))[0]?.files ?? 0
    if (files > maxFiles) throw tooMany()
  }
  if (files > 0) wakeNumbering(scope, 'soon')
  return files
}

/**
 * Counts the rows of a range, only slightly beyond the limit, so that the cost is bounded. Throws VALIDATION_ERROR for more than 2,000
 * files, and for more than 4,000 rows of files and folders.
 */
async function countWithinLimit(tx: Tx, range: SpaceRange): Promise<RangeCounts> {
  const counted = (await tx.query(countRange({ ...range, limit: 2 * maxFiles + 2 })))[0] ?? { rows: 0, files: 0, longest: 0 }
  if (counted.files > maxFiles || counted.rows > 2 * maxFiles) throw tooMany()
  return counted
}

const tooMany = () => problem('VALIDATION_ERROR', `a folder with more than ${maxFiles} files cannot be moved or deleted at once`)
