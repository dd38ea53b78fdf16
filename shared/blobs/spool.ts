import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Written } from '#shared/blobs/byte-store.ts'
import { writeMeasured } from '#shared/blobs/measured.ts'
import { privateFile, privateFolder } from '#shared/kernel/private-files.ts'

/** A stream that was written to the local disk, to be read as often as it is needed. */
export interface Spooled extends Written {
  /** The bytes from their beginning. */
  readonly open: () => Readable
}

const pieceBytes = 64 * 1024

/**
 * Writes a stream to the local disk, works with it, and lets go of it. The file has no name while it is used, so that the system itself
 * takes it away when the process is killed.
 */
export async function spooled<T>(
  folder: string,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  work: (spooled: Spooled) => Promise<T>,
): Promise<T> {
  const handle = await openNameless(folder, name)
  try {
    const written = await writeMeasured(bytes, async (pieces) => void (await handle.appendFile(Buffer.concat(pieces))))
    return await work({ ...written, open: () => Readable.from(readFrom(handle), { objectMode: false }) })
  } finally {
    await handle.close()
  }
}

/** The handle's own stream would close it when an attempt to send is given up. */
async function* readFrom(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function openNameless(folder: string, name: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: privateFolder })
  const path = join(folder, name)
  const handle = await open(path, 'wx+', privateFile)
  await rm(path)
  return handle
}
