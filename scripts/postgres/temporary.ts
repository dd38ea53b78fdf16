import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeLock } from '../lock.mjs'
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts'
import { temporaryProfile } from './profile.ts'

const prefix = 'kontor-postgres-temporary-'

/** A folder in memory, where the system has one. */
const memory = '/dev/shm'

/** Free bytes needed there: a run of all tests holds up to 1 GB at a time, mostly write-ahead log. */
const memoryBytes = 4 * 2 ** 30

/**
 * Starts an empty, fast PostgreSQL without durability, with a superuser. Stopping it removes its folder. Folders that killed processes left
 * behind are removed first.
 */
export async function startTemporary(say: (line: string) => void): Promise<EmbeddedPostgres> {
  await removeAbandoned()
  const home = mkdtempSync(join(chosenFolder(), prefix))
  const lock = await takeLock(join(home, 'lock'))
  const remove = () => {
    if (lock.taken) lock.release()
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    const postgres = await startEmbedded(join(home, 'data'), temporaryProfile, say)
    return { url: postgres.url, stop: () => postgres.stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * The folder for the server's files. Each test world is a clone of 800 files that are soon deleted, and disks create files slowly after
 * many deletions: ext4 took 400 to 800 ms of processor time per clone, memory takes 50.
 */
function chosenFolder(): string {
  return freeBytes(memory) >= memoryBytes ? memory : tmpdir()
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}

async function removeAbandoned(): Promise<void> {
  for (const folder of [memory, tmpdir()]) for (const name of namesIn(folder)) await removeUnlessTaken(folder, name)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(prefix))
  } catch {
    return []
  }
}

async function removeUnlessTaken(folder: string, name: string): Promise<void> {
  const home = join(folder, name)
  try {
    // Its creator takes the lock a moment later.
    if (Date.now() - statSync(home).mtimeMs < 10_000) return
    const lock = await takeLock(join(home, 'lock'))
    if (!lock.taken) return
    lock.release()
    rmSync(home, { recursive: true, force: true })
  } catch {
    // The folder belongs to another user.
  }
}
