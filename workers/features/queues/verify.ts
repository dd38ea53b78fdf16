import { summarizeAll } from '#shared/features/queues/counts/summary.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { verifyHistory } from '#shared/features/queues/history/verify.ts'
import { verifyQueue } from '#shared/features/queues/jobs.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

export default handler(verifyQueue, async ({ payload: { queueId }, scope, advance }) => {
  const queue = await requireQueue(scope, queueId)
  const summary = await summarizeAll(scope, queue)
  return { result: await verifyHistory(scope, queue, (items) => advance({ done: items, total: Math.max(items, summary.total) })) }
})
