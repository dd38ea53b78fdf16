import Router from '@koa/router'
import { pool } from '#bench/floor/database.ts'
import { channels, createSignal, listen, openBoss, queueName } from '#bench/floor/queue.ts'

/** The route of a job: sends it to the queue, wakes the worker and answers once the worker has signalled its completion. */
export async function jobRoutes(): Promise<Router> {
  const router = new Router()
  const boss = await openBoss(pool)
  const signalFilled = createSignal(pool, channels.filled)
  const waiting = new Map<string, () => void>()
  await listen(channels.completed, (ids) => {
    for (const id of ids.split(' ')) waiting.get(id)?.()
  })
  router.post('/jobs', async (ctx) => {
    const id = crypto.randomUUID()
    const done = Promise.withResolvers<void>()
    waiting.set(id, done.resolve)
    await boss.send(queueName, {}, { id })
    signalFilled(queueName)
    await done.promise
    waiting.delete(id)
    ctx.body = { data: { id } }
  })
  return router
}
