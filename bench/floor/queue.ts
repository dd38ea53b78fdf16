import pg from 'pg'
import { PgBoss } from 'pg-boss'

/** The floor's queue, and the NOTIFY channels by which its routes and its worker wake each other. */
export const queueName = 'bench.floor'
export const channels = { filled: 'bench_filled', completed: 'bench_completed' } as const

/** Starts pg-boss without maintenance and creates the queue. */
export async function openBoss(pool: pg.Pool): Promise<PgBoss> {
  const db = { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) }
  const boss = new PgBoss({ db, migrate: false, createSchema: false, supervise: false, schedule: false, useListenNotify: false })
  await boss.start()
  await boss.createQueue(queueName, { retryLimit: 0, notify: false, deleteAfterSeconds: 3_600, heartbeatSeconds: 10 })
  return boss
}

/** Calls back with every notification on a channel. */
export async function listen(channel: string, receive: (payload: string) => void): Promise<void> {
  const client = new pg.Client(process.env.DATABASE_URL)
  await client.connect()
  client.on('notification', ({ payload = '' }) => receive(payload))
  await client.query(`listen ${channel}`)
}

/**
 * Creates the function that notifies a channel of an id. Ids of two milliseconds go out in one notification, since one per transaction would
 * serialize the commits.
 */
export function createSignal(pool: pg.Pool, channel: string): (id: string) => void {
  let gathered = new Set<string>()
  return (id) => {
    if (gathered.size === 0) {
      setTimeout(() => {
        const ids = [...gathered]
        gathered = new Set()
        for (let start = 0; start < ids.length; start += 150) {
          void pool.query({ name: channel, text: 'select pg_notify($1, $2)', values: [channel, ids.slice(start, start + 150).join(' ')] })
        }
      }, 2)
    }
    gathered.add(id)
  }
}
