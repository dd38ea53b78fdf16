import type { Readable } from 'node:stream'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { checkFileKey, nameOfKey } from '#shared/features/drive/objects/key.ts'
import { requirePlace } from '#shared/features/drive/objects/place.ts'
import { findObject, type ObjectRow } from '#shared/features/drive/objects/store.ts'
import type { ByteRange } from '#shared/platform/blobs/byte-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** A file that was opened for reading. `open` reads the bytes of this version, even after the key is overwritten or deleted. */
interface OpenedFile extends ObjectRow {
  readonly name: string
  readonly open: (range?: ByteRange) => Promise<Readable>
}

/** Finds a file for reading. Throws as `requireSpace` does, VALIDATION_ERROR for a bad key, NOT_FOUND for a missing file. */
export async function findFile(scope: Scope, spaceName: string, sentKey: string): Promise<OpenedFile> {
  checkFileKey(sentKey)
  const { space, key } = await requirePlace(scope, spaceName, sentKey, 'read')
  const [row] = await readRows(scope, findObject({ workspaceId: scope.workspace.id, spaceId: space.id, key }))
  const blobId = row?.blob_id
  if (!row || !blobId) throw problem('NOT_FOUND')
  return { ...row, name: nameOfKey(row.key), open: (range) => scope.blobs.read(blobId, range) }
}

/** Reads a whole text file. Throws as `findFile` does, and VALIDATION_ERROR for more than `maxBytes` bytes or invalid UTF-8. */
export async function readText(scope: Scope, spaceName: string, key: string, maxBytes: number): Promise<string> {
  const { size_bytes, open } = await findFile(scope, spaceName, key)
  if (size_bytes > maxBytes) throw problem('VALIDATION_ERROR', `the file must have at most ${maxBytes} bytes, it has ${size_bytes}`)
  const bytes = Buffer.concat(await Array.fromAsync(await open()))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'the file must be UTF-8 text', { cause })
  }
}
