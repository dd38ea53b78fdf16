import { chmod, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'

/** Modes of files and folders in DATA_DIR, whatever the umask: only the owner reads and writes. */
export const privateFileMode = 0o600
export const privateFolderMode = 0o700

/** Names of Kontor's own files in DATA_DIR. Other files there are not changed. */
const ownNames = /^(?:blobs|spool|mail|logs|pg|bootstrap\.json|secret-key|database-url|lock)(?:\.|$)/

/** Makes private all files that this process creates from now on, and those that earlier releases left in DATA_DIR. */
export async function makeFilesPrivate(dataDir: string): Promise<void> {
  process.umask(0o077)
  await makeFolderPrivate(dataDir)
}

/** Makes the files of earlier releases in DATA_DIR private. */
export async function makeFolderPrivate(dataDir: string): Promise<void> {
  await unlessGone(async () => {
    // A world-writable folder, such as /tmp, is shared and keeps its mode.
    const { mode } = await lstat(dataDir)
    for await (const { name } of await opendir(dataDir)) if (ownNames.test(name)) await tighten(join(dataDir, name), name.startsWith('pg'))
    if ((mode & 0o1002) === 0) await setMode(dataDir, privateFolderMode)
  })
}

/**
 * Makes a file, or a folder and its contents, private. A folder's mode is set after those of its contents, so the contents of a folder with
 * that mode are private already. PostgreSQL sets the modes in its own folder.
 */
async function tighten(path: string, isPostgres: boolean): Promise<void> {
  await unlessGone(async () => {
    const found = await lstat(path)
    if (found.isSymbolicLink()) return
    if (!found.isDirectory()) return setMode(path, privateFileMode)
    if ((found.mode & 0o777) === privateFolderMode) return
    if (!isPostgres) for await (const { name } of await opendir(path)) await tighten(join(path, name), false)
    await setMode(path, privateFolderMode)
  })
}

/** Only the owner can set a mode; files of other owners stay unchanged. */
async function setMode(path: string, mode: number): Promise<void> {
  try {
    await chmod(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** Ignores missing and unreadable files: several processes start together, and files change meanwhile. */
async function unlessGone(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
