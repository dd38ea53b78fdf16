import { createHash } from 'node:crypto'
import type { WrittenBytes } from '#shared/platform/blobs/byte-store.ts'

/** Bytes buffered before a write, which saves system calls for streams that arrive in small pieces. */
const bufferBytes = 256 * 1024

/** Writes a stream in buffers of at least `bufferBytes`, except the last, and returns its size and SHA-256. */
export async function writeMeasured(
  bytes: AsyncIterable<Uint8Array>,
  write: (pieces: Uint8Array[]) => Promise<unknown>,
): Promise<WrittenBytes> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  let buffered: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    digest.update(piece)
    sizeBytes += piece.length
    buffered.push(piece)
    length += piece.length
    if (length < bufferBytes) continue
    await write(buffered)
    buffered = []
    length = 0
  }
  if (length > 0) await write(buffered)
  return { sizeBytes, sha256: digest.digest('hex') }
}
