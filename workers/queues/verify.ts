import { verifyQueue } from '#shared/queues/jobs.ts'
import { requireQueue } from '#shared/queues/load.ts'
import { summarizeAll } from '#shared/queues/summary.ts'
import { verifyHistory } from '#shared/queues/verify.ts'
import { handler } from '#workers/handler.ts'

export default handler(verifyQueue, async ({ payload: { queueId }, scope, advance }) => {
  const queue = await requireQueue(scope, queueId)
  const summary = await summarizeAll(scope, queue)
  return { result: await verifyHistory(scope, queue, (items) => advance({ done: items, total: Math.max(items, summary.total) })) }
})
