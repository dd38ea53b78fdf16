import { createServer } from 'node:http'
import { pool } from '#bench/floor/database.ts'
import { channels, createSignal, listen, openBoss, queueName } from '#bench/floor/queue.ts'

/**
 * A worker whose jobs do nothing. It fetches up to 100 jobs at once, completes them together and signals each completion. The bench starts it
 * with DATABASE_URL and PORT; it answers HTTP on that port once it fetches jobs.
 */
const boss = await openBoss(pool)
const signalCompleted = createSignal(pool, channels.completed)
/** Four loops fetch at the same time, so that one continues while another waits for the database. */
const loops = Array.from({ length: 4 }, () => ({ isSignalled: false, isRunning: false }))

/** Fetches until the queue is empty. A signal that arrives meanwhile makes the loop look once more. */
async function run(loop: (typeof loops)[number]): Promise<void> {
  loop.isSignalled = true
  if (loop.isRunning) return
  loop.isRunning = true
  while (loop.isSignalled) {
    loop.isSignalled = false
    while (await completeSome());
  }
  loop.isRunning = false
}

async function completeSome(): Promise<boolean> {
  const ids = (await boss.fetch(queueName, { batchSize: 100 })).map(({ id }) => id)
  if (ids.length === 0) return false
  await boss.complete(queueName, ids)
  for (const id of ids) signalCompleted(id)
  return true
}

const runAll = (): void => {
  for (const loop of loops) void run(loop)
}

await listen(channels.filled, runAll)
createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1')
runAll()
