import { hostname } from 'node:os'
import type { Database } from '#shared/platform/db/database.ts'
import { type Process, type RunningJob, removeProcess, storeHeartbeat } from '#shared/platform/db/processes/store.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'

/** Milliseconds between two heartbeats: a process that has died counts as such after three of them. */
const heartbeatMs = 10_000

/** A process that `kontor status` shows while it lives. */
interface AnnouncedProcess {
  readonly id: string
  /** Stops the heartbeats and removes the row. */
  readonly close: () => Promise<void>
}

/** Makes a process known to the installation by a heartbeat, now and every ten seconds. `running` says what it runs at that moment. */
export async function announceProcess(
  database: Database,
  { kind, pools, release }: Pick<Process, 'kind' | 'release'> & { readonly pools: readonly string[] },
  running: () => readonly RunningJob[],
  log: Logger,
): Promise<AnnouncedProcess> {
  const described = { id: newId(), kind, pools: [...pools], release, host: hostname(), pid: process.pid }
  const sendHeartbeat = () =>
    storeHeartbeat(database, { ...described, running: running() }, { now: new Date(), memoryBytes: process.memoryUsage.rss() })
  await sendHeartbeat()
  let last: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    last = sendHeartbeat().catch((error: unknown) => log.debug({ err: error }, 'could not send a heartbeat'))
  }, heartbeatMs).unref()
  return {
    id: described.id,
    close: async () => {
      clearInterval(timer)
      await last
      await database.query(removeProcess({ id: described.id })).catch(() => undefined)
    },
  }
}
