import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ByteRange, ByteStore, Written } from '#shared/blobs/byte-store.ts'
import { writeMeasured } from '#shared/blobs/measured.ts'
import { privateFile, privateFolder } from '#shared/kernel/private-files.ts'

/** Folders below which blobs lie, by the last two digits of their ids: those are random. */
const folderOf = (id: string): string => id.slice(-2)

/** Bytes on the local disk, below one folder. A file's name is its blob's id, so no key that a caller sends ever becomes a path. */
export class DiskStore implements ByteStore {
  readonly kind = 'disk'
  readonly #root: string
  readonly #folders = new Map<string, Promise<void>>()

  constructor(root: string) {
    this.#root = root
  }

  async write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<Written> {
    const folder = join(this.#root, folderOf(id))
    await this.#madeFolder(folder)
    const [half, whole] = [join(folder, `${id}.half`), join(folder, id)]
    try {
      const handle = await open(half, 'wx', privateFile)
      let written: Written
      try {
        written = await writeMeasured(bytes, (pieces) => writeAll(handle, pieces))
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(half, whole)
      await syncFolder(folder)
      return written
    } catch (error) {
      await rm(half, { force: true }).catch(() => undefined)
      throw error
    }
  }

  async read(id: string, range?: ByteRange): Promise<Readable> {
    // Open before anything is answered: the open file is read to its end even when its name is removed.
    const handle = await open(join(this.#root, folderOf(id), id), 'r')
    return handle.createReadStream({ highWaterMark: 128 * 1024, ...range })
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const whole = join(this.#root, folderOf(id), id)
      await rm(`${whole}.half`, { force: true })
      await rm(whole, { force: true })
    }
  }

  async identity(): Promise<string | undefined> {
    try {
      return (await readFile(this.#idFile, 'utf8')).trim()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  async identify(id: string): Promise<string> {
    await this.#madeFolder(this.#root)
    // Whole or not at all, and only once: several processes may start on a new folder together.
    const draft = `${this.#idFile}.${randomUUID()}`
    await writeFile(draft, `${id}\n`, { flush: true, mode: privateFile })
    try {
      await link(draft, this.#idFile)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      await rm(draft, { force: true })
    }
    await syncFolder(this.#root)
    return (await this.identity()) ?? id
  }

  close(): void {}

  get #idFile(): string {
    return join(this.#root, 'store-id')
  }

  /** Makes a folder once in a process; a name in a folder is lasting only when the folder itself is written to the disk. */
  #madeFolder(folder: string): Promise<void> {
    const known = this.#folders.get(folder)
    if (known) return known
    const made = makeFolder(this.#root, folder)
    this.#folders.set(folder, made)
    made.catch(() => this.#folders.delete(folder))
    return made
  }
}

async function makeFolder(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: privateFolder })
  await syncFolder(root)
}

/** Writes all pieces: the system may take less than it is given when the disk is nearly full. */
async function writeAll(handle: FileHandle, pieces: Uint8Array[]): Promise<void> {
  const expected = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const { bytesWritten } = await handle.writev(pieces)
  let rest = bytesWritten
  if (rest === expected) return
  for (const piece of pieces) {
    for (let offset = Math.min(rest, piece.length); offset < piece.length; ) offset += (await handle.write(piece, offset)).bytesWritten
    rest = Math.max(0, rest - piece.length)
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
