import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeLock } from '../lock.mjs'
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts'
import { temporary } from './profile.ts'

const prefix = 'kontor-postgres-temporary-'

/**
 * Starts an empty PostgreSQL that is fast and forgetful, with a superuser. Stopping it removes its folder; one that was left
 * behind by a process that was killed goes with the next call.
 */
export async function startTemporary(say: (line: string) => void): Promise<EmbeddedPostgres> {
  await removeAbandoned()
  const home = mkdtempSync(join(tmpdir(), prefix))
  const lock = await takeLock(join(home, 'lock'))
  const remove = () => {
    if (lock.taken) lock.release()
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    const postgres = await startEmbedded(join(home, 'data'), temporary, say)
    return { url: postgres.url, stop: () => postgres.stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue
    const home = join(tmpdir(), name)
    try {
      // The one who makes it takes its lock a moment later.
      if (Date.now() - statSync(home).mtimeMs < 10_000) continue
      const lock = await takeLock(join(home, 'lock'))
      if (!lock.taken) continue
      lock.release()
      rmSync(home, { recursive: true, force: true })
    } catch {
      // Somebody else's.
    }
  }
}
