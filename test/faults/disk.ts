import { spawnSync } from 'node:child_process'
import { mkdir, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Teardown } from '#test/faults/case.ts'

/** A small disk of the case. */
export interface Disk {
  readonly folder: string
  /** Uses up all free space. */
  readonly fill: () => Promise<void>
  /** Frees the space again. */
  readonly free: () => Promise<void>
}

/** Mounts a disk in memory; undefined when this process may not. */
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
      // Another process may use up the last of it meanwhile; as much as fits has been written then.
      await writeFile(ballast, Buffer.alloc(bavail * bsize), { flag: 'a' }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOSPC') throw error
      })
    },
    free: () => truncate(ballast),
  }
}
