import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../ports.ts'
import { postgresFolder } from './binaries.ts'
import { ensureCluster, setPassword } from './cluster.ts'
import { changeOwner, chooseIdentity } from './identity.ts'
import { type Profile, roleName } from './profile.ts'
import { startServer, stopServer } from './server.ts'
import { clearFolder } from './stale-files.ts'

/** A PostgreSQL server that is restarted after a crash, under the same address, until it is stopped. */
export type EmbeddedPostgres = { readonly url: string; readonly stop: () => Promise<void> }

/**
 * Starts PostgreSQL 18 in a folder, created if missing, on a free port of 127.0.0.1. Servers that a killed process left on it are ended.
 * The address contains the password; `say` reports crashes. Throws if the folder cannot be created or the server does not start.
 */
export async function startEmbedded(folder: string, profile: Profile, say: (line: string) => void): Promise<EmbeddedPostgres> {
  const identity = chooseIdentity(postgresFolder())
  await ensureCluster(identity, folder, profile)
  const data = realpathSync(folder)
  await clearFolder(data)
  changeOwner(identity, data)
  const password = randomBytes(32).toString('hex')
  await setPassword(identity, data, profile, password)
  const port = await freePort()
  let server = await startServer(identity, data, port, profile)
  let isWanted = true
  const watched = watch()

  return {
    url: `postgres://${roleName}:${password}@127.0.0.1:${port}/${profile.database}`,
    stop: async () => {
      isWanted = false
      await stopServer(server, profile.shutdown)
      await watched
    },
  }

  async function watch(): Promise<void> {
    for (;;) {
      const log = await server.ended
      if (!isWanted) return
      say(`PostgreSQL ended, starting it again. ${log}`.trim())
      await restart()
    }
  }

  async function restart(): Promise<void> {
    for (let waitMs = 100; isWanted; waitMs = Math.min(waitMs * 2, 5_000)) {
      try {
        await clearFolder(data)
        server = await startServer(identity, data, port, profile)
        if (!isWanted) await stopServer(server, profile.shutdown)
        return
      } catch (error) {
        say(error instanceof Error ? error.message : String(error))
        await delay(waitMs)
      }
    }
  }
}
