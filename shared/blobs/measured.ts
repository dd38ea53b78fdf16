import { createHash } from 'node:crypto'
import type { Written } from '#shared/blobs/byte-store.ts'

/** Bytes that are gathered before they are written: fewer calls of the system for what arrives in small pieces. */
const gatherBytes = 256 * 1024

/** Hands a stream on in pieces of `gatherBytes` or little more, and counts and digests what went through. */
export async function writeMeasured(bytes: AsyncIterable<Uint8Array>, write: (pieces: Uint8Array[]) => Promise<unknown>): Promise<Written> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  let gathered: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    digest.update(piece)
    sizeBytes += piece.length
    gathered.push(piece)
    length += piece.length
    if (length < gatherBytes) continue
    await write(gathered)
    gathered = []
    length = 0
  }
  if (length > 0) await write(gathered)
  return { sizeBytes, sha256: digest.digest('hex') }
}
