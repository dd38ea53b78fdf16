import { readFullSummary } from '#shared/features/queues/counts/summary.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { verifyHistory } from '#shared/features/queues/history/verify.ts'
import { verifyQueueJob } from '#shared/features/queues/jobs.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(verifyQueueJob, async ({ payload: { queueId }, scope, advance }) => {
  const queue = await requireQueue(scope, queueId)
  const summary = await readFullSummary(scope, queue)
  return { result: await verifyHistory(scope, queue, (items) => advance({ done: items, total: Math.max(items, summary.total) })) }
})
