import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type HeldBlob, listHeldBlobs } from '#shared/platform/blobs/backup/store.ts'
import type { Blobs } from '#shared/platform/blobs/blobs.ts'
import { DiskStore } from '#shared/platform/blobs/disk-store.ts'
import { findStore } from '#shared/platform/blobs/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { privateFileMode } from '#shared/platform/kernel/process/private-files.ts'

/** What copying and checking need. */
export interface BackupServices {
  readonly db: Executor
  readonly blobs: Blobs
}

/**
 * A folder with copies of blobs, laid out as the disk store below `DATA_DIR`: `blobs/<last two digits>/<id>`, which are also the keys of the S3
 * store. So it is restored by copying.
 */
export class BackupFolder {
  readonly files: DiskStore
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    this.files = new DiskStore(join(root, 'blobs'))
  }

  /** Gives a new folder the identity of the installation's store. Throws VALIDATION_ERROR for the folder of another installation. */
  async claim(db: Executor): Promise<void> {
    const id = (await db.query(findStore()))[0]?.id
    if (id === undefined) return
    if ((await this.files.identify(id)) !== id)
      throw problem('VALIDATION_ERROR', `${this.#root} holds the files of another installation: name another folder`)
    await writeFile(join(this.#root, 'kontor-store-id'), `${id}\n`, { mode: privateFileMode })
  }

  /** The number of complete files in the folder. */
  async count(): Promise<number> {
    const entries = await readdir(join(this.#root, 'blobs'), { recursive: true, withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      },
    )
    return entries.filter((entry) => entry.isFile() && /^[0-9a-f-]{36}$/.test(entry.name)).length
  }
}

/** Blobs that are read from the database at once. */
const pageSize = 500
const nil = '00000000-0000-0000-0000-000000000000'

/** All blobs that rows hold, in pages. */
export async function* heldBlobs(db: Executor): AsyncGenerator<readonly HeldBlob[]> {
  for (let last = { workspace_id: nil, id: nil }; ; ) {
    const page = await db.query(listHeldBlobs({ afterWorkspace: last.workspace_id, afterId: last.id, limit: pageSize }))
    yield page
    const end = page.at(-1)
    if (!end || page.length < pageSize) return
    last = end
  }
}
