import { cp, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { postgresFolder } from '#scripts/postgres/binaries.ts'
import { ensureCluster } from '#scripts/postgres/cluster.ts'
import { startEmbedded } from '#scripts/postgres/embedded.ts'
import { chooseIdentity } from '#scripts/postgres/identity.ts'
import { durableProfile, type Profile } from '#scripts/postgres/profile.ts'
import { readStatus } from '#scripts/postgres/stale-files.ts'
import type { Teardown } from '#test/faults/case.ts'
import { eventually } from '#test/support/eventually.ts'
import { goneProcess } from '#test/support/living-processes.ts'

/** A database server that restarts by itself, as that of `npm start` does. */
export interface Cluster {
  readonly url: string
  /** Ends the server, by SIGQUIT as `pg_ctl stop -m immediate` does; resolves when it accepts statements again. */
  readonly crash: (signal: 'SIGQUIT' | 'SIGKILL') => Promise<void>
  /** Resolves once it accepts statements. */
  readonly back: () => Promise<void>
}

/** The server of `npm start`, except that the case may see and end all sessions. */
const profile: Profile = { ...durableProfile, isSuperuser: true }

/** Starts a server in these folders; its write-ahead log is in a separate folder if one is given. */
export async function startCluster(t: Teardown, { data, wal }: { readonly data: string; readonly wal?: string }): Promise<Cluster> {
  if (wal) {
    await ensureCluster(chooseIdentity(postgresFolder()), data, profile)
    await mkdir(wal, { recursive: true })
    await moveFolder(join(data, 'pg_wal'), join(wal, 'pg_wal'))
  }
  const { url, stop } = await startEmbedded(data, profile, () => undefined)
  t.teardown(stop)
  return {
    url,
    crash: async (signal) => {
      const { pid } = readStatus(data)
      process.kill(pid, signal)
      await goneProcess(pid)
      await back()
    },
    back,
  }

  async function back(): Promise<void> {
    await eventually(() => answers(url))
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function moveFolder(from: string, to: string): Promise<void> {
  // Between file systems a folder is copied and removed.
  await rename(from, to).catch(async () => {
    await cp(from, to, { recursive: true })
    await rm(from, { recursive: true })
  })
  await symlink(to, from)
}
