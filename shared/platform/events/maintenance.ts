import type { Executor } from '#shared/platform/db/database.ts'
import { defineCleanup } from '#shared/platform/db/old-rows.ts'
import { deleteOldEvents } from '#shared/platform/events/feed-store.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

/** Workspaces whose old events one statement deletes, and the most events of each. */
const [workspaces, perWorkspace] = [100, 1_000]

interface Services {
  readonly db: Executor
  readonly config: Pick<Config, 'eventsKeepSeconds'>
  readonly now: () => Date
}

export const eventMaintenance: readonly MaintenanceTask<Services>[] = [
  {
    name: 'old events',
    everySeconds: 600,
    async run(services, signal) {
      const { db, config } = services
      const before = new Date(services.now().getTime() - config.eventsKeepSeconds * 1_000)
      for (let afterId = lowestId; ; ) {
        signal.throwIfAborted()
        const found = await db.query(deleteOldEvents({ afterId, workspaces, perWorkspace, before }))
        if (found.some(({ deleted }) => deleted === perWorkspace)) continue
        if (found.length < workspaces) return
        afterId = found.at(-1)?.workspaceId ?? lowestId
      }
    },
  },
  defineCleanup('sweep_event_streams', { table: 'event_streams', old: 'expires_at <= $before', by: 'expires_at', everyMinutes: 10 }),
]
