import type { EventFamily } from '#shared/core/events/event-type.ts'
import type { feature } from '#shared/features/webhooks/feature.ts'
import { sendDeliveriesJob } from '#shared/features/webhooks/jobs.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { RunCounts } from '#workers/features/webhooks/run-counts.ts'
import { WebhookRun } from '#workers/features/webhooks/webhook-run.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

/** The handlers of webhooks, which send events of these types. */
export function createHandlers(families: readonly EventFamily[]) {
  const counts = new RunCounts()
  return {
    // Runs as the platform, which enters the workspace with the rights of the webhook.
    sendDeliveries: definePlatformHandler(sendDeliveriesJob, async ({ payload, scope, jobId, signal }) => {
      const { workspaceId, webhookId } = payload
      await WebhookRun.run({ scope, families, counts, workspaceId, webhookId, runId: jobId, signal })
      return { result: null }
    }),
  } satisfies HandlersOf<typeof feature.jobs>
}
