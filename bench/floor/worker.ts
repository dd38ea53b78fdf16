import { createServer } from 'node:http'
import { pool } from '#bench/floor/database.ts'
import { channels, listen, openBoss, queueName, signalling } from '#bench/floor/queue.ts'

/**
 * A worker without work: takes up to a hundred jobs at once, completes them together and signals it. The bench starts it with DATABASE_URL
 * and PORT, which answers once it takes jobs.
 */
const boss = await openBoss(pool)
const signalCompleted = signalling(pool, channels.completed)
/** While one taker waits for the database, another continues. */
const takers = Array.from({ length: 4 }, () => ({ isWanted: false, isTaking: false }))

async function take(taker: (typeof takers)[number]): Promise<void> {
  taker.isWanted = true
  if (taker.isTaking) return
  taker.isTaking = true
  while (taker.isWanted) {
    taker.isWanted = false
    while (await takeSome());
  }
  taker.isTaking = false
}

async function takeSome(): Promise<boolean> {
  const ids = (await boss.fetch(queueName, { batchSize: 100 })).map(({ id }) => id)
  if (ids.length === 0) return false
  await boss.complete(queueName, ids)
  for (const id of ids) signalCompleted(id)
  return true
}

const takeAll = (): void => {
  for (const taker of takers) void take(taker)
}

await listen(channels.filled, takeAll)
createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1')
takeAll()
