import Router from '@koa/router'
import { pool } from '#bench/floor/database.ts'
import { channels, listen, openBoss, queueName, signalling } from '#bench/floor/queue.ts'

/** Request and reply through an idle worker: sends the job, wakes the worker and waits for its completion signal. */
export async function jobRoutes(): Promise<Router> {
  const router = new Router()
  const boss = await openBoss(pool)
  const filled = signalling(pool, channels.filled)
  const waiting = new Map<string, () => void>()
  await listen(channels.completed, (ids) => {
    for (const id of ids.split(' ')) waiting.get(id)?.()
  })
  router.post('/jobs', async (ctx) => {
    const id = crypto.randomUUID()
    const done = Promise.withResolvers<void>()
    waiting.set(id, done.resolve)
    await boss.send(queueName, {}, { id })
    filled(queueName)
    await done.promise
    waiting.delete(id)
    ctx.body = { data: { id } }
  })
  return router
}
