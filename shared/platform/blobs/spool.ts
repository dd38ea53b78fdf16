import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { WrittenBytes } from '#shared/platform/blobs/byte-store.ts'
import { writeMeasured } from '#shared/platform/blobs/measured-write.ts'
import { privateFileMode, privateFolderMode } from '#shared/platform/kernel/process/private-files.ts'

/** A stream stored on the local disk; it can be read many times. */
export interface SpooledFile extends WrittenBytes {
  /** Opens the bytes from the beginning. */
  readonly open: () => Readable
}

const pieceBytes = 64 * 1024

/**
 * Writes a stream to a temporary file for the duration of the work. The file is unlinked while in use, so the operating system frees it
 * when the process is killed.
 */
export async function withSpooledFile<T>(
  folder: string,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  work: (spooled: SpooledFile) => Promise<T>,
): Promise<T> {
  const handle = await openUnlinked(folder, name)
  try {
    const written = await writeMeasured(bytes, async (pieces) => void (await handle.appendFile(Buffer.concat(pieces))))
    return await work({ ...written, open: () => Readable.from(readAll(handle), { objectMode: false }) })
  } finally {
    await handle.close()
  }
}

/** Reads without the handle's own stream, which would close the handle when an upload attempt is aborted. */
async function* readAll(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function openUnlinked(folder: string, name: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: privateFolderMode })
  const path = join(folder, name)
  const handle = await open(path, 'wx+', privateFileMode)
  await rm(path)
  return handle
}
