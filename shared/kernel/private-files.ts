import { chmod, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'

/** The modes of what lies under DATA_DIR: its owner alone reads and writes it. They do not depend on the umask. */
export const privateFile = 0o600
export const privateFolder = 0o700

/** What Kontor keeps in DATA_DIR. Anything else in that folder is not ours to change. */
const ours = /^(?:blobs|spool|mail|logs|pg|bootstrap\.json|secret-key|database-url|lock)(?:\.|$)/

/** Makes everything that this process creates from now on private, and what an earlier release left in DATA_DIR. */
export async function keepPrivate(dataDir: string): Promise<void> {
  process.umask(0o077)
  await tightenFolder(dataDir)
}

/** Makes what an earlier release left in DATA_DIR private. */
export async function tightenFolder(dataDir: string): Promise<void> {
  await unlessGone(async () => {
    // A folder that all may write to, such as /tmp, is shared by its nature.
    const { mode } = await lstat(dataDir)
    for await (const { name } of await opendir(dataDir)) if (ours.test(name)) await tighten(join(dataDir, name), name.startsWith('pg'))
    if ((mode & 0o1002) === 0) await setMode(dataDir, privateFolder)
  })
}

/** A folder gets its mode after what is in it, so one that has it was finished before. PostgreSQL sets the modes in its own folder. */
async function tighten(path: string, isPostgres: boolean): Promise<void> {
  await unlessGone(async () => {
    const found = await lstat(path)
    if (found.isSymbolicLink()) return
    if (!found.isDirectory()) return setMode(path, privateFile)
    if ((found.mode & 0o777) === privateFolder) return
    if (!isPostgres) for await (const { name } of await opendir(path)) await tighten(join(path, name), false)
    await setMode(path, privateFolder)
  })
}

/** A mode can be set by the owner alone: what belongs to somebody else stays as it is. */
async function setMode(path: string, mode: number): Promise<void> {
  try {
    await chmod(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** Several processes start together, and files come and go meanwhile. */
async function unlessGone(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
