import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Running } from '#bench/servers/start.ts'
import { startEmbedded } from '#scripts/postgres/embedded.ts'
import { durableProfile } from '#scripts/postgres/profile.ts'

/** A separate PostgreSQL that keeps every acknowledged write, as in production: without fsync, writes would look too cheap. */
export async function startDatabase(): Promise<Omit<Running, 'pid'> & { readonly filesFolder: string }> {
  const folder = mkdtempSync(join(import.meta.dirname, '..', '..', '.bench-'))
  const postgres = await startEmbedded(join(folder, 'data'), durableProfile, () => undefined)
  return {
    url: postgres.url,
    // On the same disk, and removed with the server.
    filesFolder: join(folder, 'files'),
    stop: async () => {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
