import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Free bytes of the disk of a folder. The folder is made by the first upload; until then the one above counts. */
export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder).catch(() => statfs(dirname(folder)))
  return bavail * bsize
}
