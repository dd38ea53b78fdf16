import { createServer } from 'node:http'
import { pool } from '#bench/floor/database.ts'
import { channels, listen, openBoss, queueName, signalling } from '#bench/floor/queue.ts'

/**
 * A worker that does nothing: takes up to a hundred jobs at once, completes them together and says so. Started by the bench with
 * DATABASE_URL and PORT, on which it answers as soon as it takes jobs.
 */
const boss = await openBoss(pool)
const settled = signalling(pool, channels.settled)
let isWanted = false
let isTaking = false

async function take(): Promise<void> {
  isWanted = true
  if (isTaking) return
  isTaking = true
  while (isWanted) {
    isWanted = false
    for (;;) {
      const jobs = await boss.fetch(queueName, { batchSize: 100 })
      if (jobs.length === 0) break
      const ids = jobs.map(({ id }) => id)
      await boss.complete(queueName, ids)
      for (const id of ids) settled(id)
    }
  }
  isTaking = false
}

await listen(channels.filled, () => void take())
createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1')
await take()
