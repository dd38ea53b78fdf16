import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireSpace } from '#shared/features/drive/access.ts'
import { detectContentType, headLength } from '#shared/features/drive/objects/content-type.ts'
import { checkFileKey, checkFolderKey, nameOfKey } from '#shared/features/drive/objects/key.ts'
import { objectViewOf } from '#shared/features/drive/objects/object.ts'
import { type Place, requirePlace } from '#shared/features/drive/objects/place.ts'
import { putFolder, putObject } from '#shared/features/drive/objects/store.ts'
import { addUsage, requireQuota } from '#shared/features/drive/quota.ts'
import type { DriveObject, Folder } from '#shared/features/drive/schemas.ts'
import { violatedConstraint } from '#shared/platform/db/database-errors.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Bytes in storage that are not yet the content of a file. */
export interface StoredBytes {
  readonly blobId: string
  readonly sizeBytes: number
  readonly sha256: string
  /** The first bytes, which determine the type together with the file's name. */
  readonly head: Buffer
  /** The content type that the sender named. */
  readonly declaredType: string
}

/**
 * Streams a file into storage before its key is known. Throws as `requireSpace` does if the caller may write nowhere in the space, and
 * LIMIT_EXCEEDED if the cap of the plan is already reached. If the stream fails, nothing is stored.
 */
export async function storeBytes(scope: Scope, spaceName: string, file: SentFile): Promise<StoredBytes> {
  await requireSpace(scope, spaceName, null, 'write')
  return putBytes(scope, file)
}

interface SentFile {
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  readonly contentType: string
}

async function putBytes(scope: Scope, { bytes, contentType }: SentFile): Promise<StoredBytes> {
  await requireQuota(scope)
  const head: Uint8Array[] = []
  const { id, sizeBytes, sha256 } = await scope.blobs.put(scope.workspace.id, withHead(bytes, head))
  return { blobId: id, sizeBytes, sha256, head: Buffer.concat(head), declaredType: contentType }
}

/** Passes a stream through and collects its first bytes in `head`. */
async function* withHead(bytes: SentFile['bytes'], head: Uint8Array[]): AsyncGenerator<Uint8Array> {
  let missing = headLength
  for await (const chunk of bytes) {
    if (missing > 0) head.push(Buffer.from(chunk.subarray(0, missing)))
    missing -= chunk.length
    yield chunk
  }
}

/** A file that was written, and whether its key is new. */
interface WrittenObject {
  readonly object: DriveObject
  readonly isNew: boolean
}

/**
 * Makes stored bytes the content of the file with this key, which is created or replaced. Asks for access again, since the caller may have
 * lost it while the bytes arrived. Throws as `requireSpace` does, VALIDATION_ERROR for a bad key, and LIMIT_EXCEEDED beyond the cap of the
 * plan. After an error the bytes are discarded, at the latest by the sweep.
 */
export const saveUpload = (scope: Scope, spaceName: string, sentKey: string, kept: StoredBytes): Promise<WrittenObject> =>
  saveAt(scope, kept, async () => {
    checkFileKey(sentKey)
    return requirePlace(scope, spaceName, sentKey, 'write')
  })

async function saveAt(scope: Scope, kept: StoredBytes, findPlace: () => Promise<Place>): Promise<WrittenObject> {
  try {
    const { space, key } = await findPlace()
    const type = await detectContentType(kept.head, { name: nameOfKey(key), type: kept.declaredType })
    return await scope.db.transaction((tx) => replaceObject(within(scope, tx), space.id, key, kept, type))
  } catch (error) {
    // Inside a transaction of the caller the blob's row may still be locked, so the blob is left to the sweep.
    if (!('inTransaction' in scope.db)) await scope.blobs.discardAfter(error, scope.workspace.id, kept.blobId)
    throw error
  }
}

async function replaceObject(scope: Scope, spaceId: string, key: string, kept: StoredBytes, type: string): Promise<WrittenObject> {
  const { db, workspace, actor, cause, now } = scope
  const { blobId, sizeBytes, sha256 } = kept
  const file = { key, blobId, sizeBytes, contentType: type, sha256 }
  const statement = putObject({
    ...file,
    workspaceId: workspace.id,
    spaceId,
    createdBy: actor.id,
    now: now(),
    cause: JSON.stringify(cause),
  })
  const [row] = await db.query(statement).catch(throwForMissingSpace)
  if (!row) throw problem('INTERNAL')
  await addUsage(scope, sizeBytes - (row.replaced_bytes ?? 0))
  wakeNumbering(scope, 'soon')
  return { object: objectViewOf(row), isNew: row.replaced_bytes === null }
}

/** Writes a file whose bytes are in memory. Throws as `saveUpload` and `storeBytes` do. */
export async function writeDriveFile(
  scope: Scope,
  spaceName: string,
  key: string,
  bytes: Uint8Array,
  contentType: string,
): Promise<WrittenObject> {
  checkFileKey(key)
  const place = await requirePlace(scope, spaceName, key, 'write')
  return saveAt(scope, await putBytes(scope, { bytes: [bytes], contentType }), async () => place)
}

/** Creates an empty folder unless it exists. Throws as `requireSpace` does, and VALIDATION_ERROR for a bad key. */
export async function createFolder(scope: Scope, spaceName: string, sentKey: string): Promise<Folder> {
  checkFolderKey(sentKey, 'key')
  const { space, key } = await requirePlace(scope, spaceName, sentKey, 'write')
  const { db, workspace, actor, now } = scope
  const statement = putFolder({ workspaceId: workspace.id, spaceId: space.id, key, createdBy: actor.id, now: now() })
  await db.query(statement).catch(throwForMissingSpace)
  return { prefix: key, name: nameOfKey(key) }
}

/** Throws NOT_FOUND for an error that says that the space was deleted meanwhile, and any other error as it is. */
function throwForMissingSpace(error: unknown): never {
  const constraint = error instanceof Problem ? violatedConstraint(error.cause) : undefined
  throw constraint === 'drive_objects_space' ? problem('NOT_FOUND') : error
}
