import { randomUUID } from 'node:crypto'
import { access, type FileHandle, link, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ByteRange, ByteStore, WrittenBytes } from '#shared/platform/blobs/byte-store.ts'
import { readFreeBytes } from '#shared/platform/blobs/free-bytes.ts'
import { writeMeasured } from '#shared/platform/blobs/measured-write.ts'
import { privateFileMode, privateFolderMode } from '#shared/platform/kernel/process/private-files.ts'

/** Folder of a blob: the last two digits of its id, which are random. */
const folderOf = (id: string): string => id.slice(-2)

/** Stores bytes below one folder of the local disk. A file's name is its blob's id, so no value that a caller sends becomes a path. */
export class DiskStore implements ByteStore {
  readonly kind = 'disk'
  readonly #root: string
  readonly #folders = new Map<string, Promise<void>>()

  constructor(root: string) {
    this.#root = root
  }

  async write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenBytes> {
    // Without its id the folder is not the store, such as the empty one below a disk that is no longer mounted.
    await access(this.#idFile)
    const folder = join(this.#root, folderOf(id))
    await this.#ensureFolder(folder)
    const [half, whole] = [join(folder, `${id}.half`), join(folder, id)]
    try {
      const handle = await open(half, 'wx', privateFileMode)
      let written: WrittenBytes
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
    // Opened before answering: an open file stays readable to its end after it is unlinked.
    const handle = await open(join(this.#root, folderOf(id), id), 'r')
    return handle.createReadStream({ highWaterMark: 128 * 1024, ...range })
  }

  /** The size of the complete bytes under an id; undefined where there are none. */
  async size(id: string): Promise<number | undefined> {
    try {
      return (await stat(join(this.#root, folderOf(id), id))).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
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
    await this.#ensureFolder(this.#root)
    // A link is atomic and fails when the file exists. So one id stays when several processes start on a new folder together.
    const draft = `${this.#idFile}.${randomUUID()}`
    await writeFile(draft, `${id}\n`, { flush: true, mode: privateFileMode })
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

  freeBytes(): Promise<number> {
    return readFreeBytes(this.#root)
  }

  close(): void {}

  get #idFile(): string {
    return join(this.#root, 'store-id')
  }

  /** Creates a folder once per process and syncs its parent: a new name survives a crash only once its parent folder is synced. */
  #ensureFolder(folder: string): Promise<void> {
    const existing = this.#folders.get(folder)
    if (existing) return existing
    const creation = makeFolder(this.#root, folder)
    this.#folders.set(folder, creation)
    creation.catch(() => this.#folders.delete(folder))
    return creation
  }
}

async function makeFolder(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: privateFolderMode })
  await syncFolder(root)
}

/** Writes all pieces; on a nearly full disk the system may write less than requested. */
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
