import { BackupFolder, type BackupServices, heldBlobs } from '#shared/platform/blobs/backup/folder.ts'
import { type HeldBlob, isBlobHeld } from '#shared/platform/blobs/backup/store.ts'
import { measureBlob } from '#shared/platform/blobs/store.ts'
import { createSemaphore } from '#shared/platform/kernel/process/semaphore.ts'

/** Blobs that are copied at once. */
const copiesAtOnce = 4

interface Copied {
  /** Copied now, and in bytes. */
  readonly copied: number
  readonly copiedBytes: number
  /** Copied by an earlier call. */
  readonly present: number
  /** One sentence for each blob that could not be copied. */
  readonly failures: readonly string[]
}

/**
 * Copies the bytes of all blobs that rows hold into a folder, except those that it has with their size. Each copy is compared with the digest
 * of its row before it gets its name; a row without one gets it. Nothing is deleted from the folder.
 */
export async function copyBlobs({ db, blobs }: BackupServices, root: string): Promise<Copied> {
  const folder = new BackupFolder(root)
  await folder.claim(db)
  const semaphore = createSemaphore(copiesAtOnce)
  const failures: string[] = []
  let [copied, copiedBytes, present] = [0, 0, 0]
  const copy = async (blob: HeldBlob): Promise<void> => {
    const size = await folder.files.size(blob.id)
    if (size !== undefined && size === blob.size_bytes) {
      present += 1
      return
    }
    try {
      const bytes = await copyBlob({ db, blobs }, folder, blob)
      copiedBytes += bytes
      copied += 1
    } catch (error) {
      if (await isHeldStill(db, blob)) failures.push(`${blob.id} of workspace ${blob.workspace_id}: ${(error as Error).message}`)
    }
  }
  for await (const page of heldBlobs(db)) await Promise.all(page.map((blob) => semaphore(() => copy(blob))))
  return { copied, copiedBytes, present, failures }
}

/** Copies one blob and returns its bytes. */
async function copyBlob({ db, blobs }: BackupServices, { files }: BackupFolder, blob: HeldBlob): Promise<number> {
  const { workspace_id: workspaceId, id } = blob
  // Of a copy that was interrupted, or has another size.
  await files.remove([id])
  const { sizeBytes, sha256 } = await files.write(id, await blobs.read(id))
  if (blob.sha256 === null) await db.query(measureBlob({ workspaceId, id, sizeBytes, sha256 }))
  else if (blob.sha256 !== sha256) {
    await files.remove([id])
    throw new Error(`its bytes in the store have the digest ${sha256}, its row has ${blob.sha256}`)
  }
  return sizeBytes
}

const isHeldStill = async (db: BackupServices['db'], { workspace_id: workspaceId, id }: HeldBlob): Promise<boolean> =>
  (await db.query(isBlobHeld({ workspaceId, id }))).length > 0
