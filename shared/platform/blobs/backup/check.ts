import { BackupFolder, heldBlobs } from '#shared/platform/blobs/backup/folder.ts'
import type { HeldBlob } from '#shared/platform/blobs/backup/store.ts'
import { writeMeasured } from '#shared/platform/blobs/measured-write.ts'
import type { Executor } from '#shared/platform/db/database.ts'

interface Checked {
  /** Files whose size and digest are those of their rows. */
  readonly intact: number
  /** Files whose rows have no digest, so that only their presence is known. */
  readonly unmeasured: number
  /** Files that no row of the database holds, such as those of deleted objects. */
  readonly unnamed: number
  /** One sentence for each row whose file is missing or differs. */
  readonly faults: readonly string[]
}

/** Reads the copy of every blob that rows of the database hold, and compares it with its row. */
export async function checkBlobs(db: Executor, root: string): Promise<Checked> {
  const folder = new BackupFolder(root)
  const faults: string[] = []
  let [intact, unmeasured, found] = [0, 0, 0]
  for await (const page of heldBlobs(db))
    for (const blob of page) {
      const fault = await faultOf(folder, blob)
      if (fault !== 'missing') found += 1
      if (fault !== undefined) faults.push(`${blob.id} of workspace ${blob.workspace_id} is ${fault}`)
      else if (blob.sha256 === null) unmeasured += 1
      else intact += 1
    }
  return { intact, unmeasured, unnamed: (await folder.count()) - found, faults }
}

async function faultOf({ files }: BackupFolder, { id, size_bytes, sha256 }: HeldBlob): Promise<string | undefined> {
  const size = await files.size(id)
  if (size === undefined) return 'missing'
  if (size_bytes !== null && size !== size_bytes) return `${size} bytes long, its row says ${size_bytes}`
  if (sha256 === null) return undefined
  const measured = await writeMeasured(await files.read(id), async () => undefined)
  return measured.sha256 === sha256 ? undefined : 'not what its row says: the digest differs'
}
