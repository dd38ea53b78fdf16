import { createServer } from 'node:http'
import { pool, runnerOf } from '#bench/floor/database.ts'
import { channels, listen, openBoss, queueName } from '#bench/floor/queue.ts'
import type { FloorOptions } from '#bench/floor/type.ts'

/**
 * A worker that creates three bare records for each job, each in a transaction of its own, as a flow of three blocks does. The bench starts
 * it with DATABASE_URL, PORT and FLOOR, the JSON of its options; it writes records of the first type.
 */
const { actorId, types } = JSON.parse(process.env.FLOOR ?? '{}') as FloorOptions
const [type] = types
if (!type) throw new Error('FLOOR names no type')
const run = runnerOf(type)
const boss = await openBoss(pool)
const values = ['From a flow', 'stage-1', '12.50', 'USD', '2026-12-24', 'flow@example.com', 'Made by a block']
const audited = JSON.stringify({ name: values[0] })

/** Concurrent jobs, as many as a flow worker runs for one workspace. */
const atOnce = 8

let wanted = false
let doing = 0

async function take(): Promise<void> {
  wanted = true
  while (wanted && doing < atOnce) {
    wanted = false
    const jobs = await boss.fetch(queueName, { batchSize: atOnce - doing })
    doing += jobs.length
    for (const { id } of jobs) void one(id)
    if (jobs.length > 0) wanted = true
  }
}

async function one(id: string): Promise<void> {
  for (let block = 0; block < 3; block++)
    await run(pool, 'create', [actorId, ...values, type?.workspaceId, type?.key, audited, type?.typeId])
  await boss.complete(queueName, id)
  doing -= 1
  await take()
}

await listen(channels.filled, () => void take())
createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1')
await take()
