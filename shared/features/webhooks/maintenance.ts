import { endFailingWebhooks, findFailingWebhooks, releaseLostJobs } from '#shared/features/webhooks/maintenance-store.ts'
import { informOfWebhook } from '#shared/features/webhooks/notices.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { type CleanupServices, defineCleanup } from '#shared/platform/db/old-rows.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { dayMs, hourMs } from '#shared/platform/kernel/time/units.ts'

/** How long a webhook fails before people are told, and before it is switched off (docs/contract/webhooks.md#failures). */
const [informedAfterMs, endedAfterMs] = [dayMs, 5 * dayMs]

/** Webhooks of one transaction. */
const batch = 100

export const webhookMaintenance: readonly MaintenanceTask<CleanupServices>[] = [
  defineCleanup('webhooks.deleteOldDeliveries', {
    table: 'webhook_deliveries',
    old: `created_at < $before and status <> 'waiting'`,
    by: 'created_at',
    keptDays: 30,
    everyMinutes: 60,
  }),
  {
    name: 'webhooks that fail',
    everySeconds: 600,
    async run(services, signal) {
      const { db } = services
      const time = services.now()
      const before = (ms: number) => new Date(time.getTime() - ms)
      await informOfAll(db, signal, 'ended', () => endFailingWebhooks({ before: before(endedAfterMs), now: time, limit: batch }))
      await informOfAll(db, signal, 'failing', () => findFailingWebhooks({ before: before(informedAfterMs), limit: batch }))
      await db.query(releaseLostJobs({ before: before(hourMs) }))
    },
  },
]

/** Tells of the webhooks that a statement returns, until it returns no more, each batch in the transaction of its change. */
async function informOfAll(
  db: Executor,
  signal: AbortSignal,
  what: 'ended' | 'failing',
  find: () => ReturnType<typeof endFailingWebhooks>,
): Promise<void> {
  for (let found = batch; found === batch; ) {
    signal.throwIfAborted()
    found = await db.transaction(async (tx) => {
      const rows = await tx.query(find())
      for (const { workspace_id, id, url, since } of rows)
        await informOfWebhook(tx, what, { workspaceId: workspace_id, id, url, since: since ?? '' })
      return rows.length
    })
  }
}
