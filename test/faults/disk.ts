import { spawnSync } from 'node:child_process'
import { mkdir, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Teardown } from '#test/faults/case.ts'

/** A small disk of a case's own. */
export interface Disk {
  readonly folder: string
  /** Takes all that is free. */
  readonly fill: () => Promise<void>
  /** Gives the space back. */
  readonly free: () => Promise<void>
}

/** Mounts one, in memory; undefined where this process may not. */
export async function mountDisk(t: Teardown, folder: string, megabytes: number): Promise<Disk | undefined> {
  await mkdir(folder, { recursive: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'kontor-faults', folder], { stdio: 'ignore' })
  if (status !== 0) return undefined
  t.teardown(() => spawnSync('umount', ['-l', folder], { stdio: 'ignore' }))
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill: async () => {
      const { bavail, bsize } = await statfs(folder)
      // Somebody else may take the last of it meanwhile; as much as fits has been written then.
      await writeFile(ballast, Buffer.alloc(bavail * bsize), { flag: 'a' }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOSPC') throw error
      })
    },
    free: () => truncate(ballast),
  }
}
