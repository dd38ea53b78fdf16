import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { takeLock } from '../lock.mjs'

/** How long a killed run may take to notice, and then to stop. */
const noticeMs = 2_000
const stopMs = 60_000

/**
 * Locks a data folder for this run and returns the release. Waits for a run that is stopping; for any other, throws an error that names its
 * process and the way out.
 */
export async function lockDataFolder(dataDir: string, stop: AbortSignal): Promise<() => void> {
  const file = join(dataDir, 'lock')
  const startedAt = Date.now()
  for (;;) {
    const lock = await takeLock(file, () => (stop.aborted ? `${process.pid} ${stopping}` : String(process.pid)))
    if (lock.taken) return lock.release
    const [pid, state] = lock.holder.split(' ')
    if (stop.aborted || Date.now() - startedAt > (state === stopping ? stopMs : noticeMs)) {
      const folder = relative(process.cwd(), dataDir) || dataDir
      throw new Error(`Another run (pid ${pid}) is already using ${folder}. Stop it first, or set DATA_DIR to another folder.`)
    }
    await delay(100)
  }
}

const stopping = 'stopping'
