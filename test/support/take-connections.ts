import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Teardown } from '#test/faults/case.ts'

/** Connections that other programs hold. */
interface TakenConnections {
  /** Closes them. */
  readonly free: () => Promise<void>
  /** Ends all sessions of Kontor, and takes their connections as well. */
  readonly takeThoseOfKontor: () => Promise<void>
}

/** Opens connections until the database refuses one, and again whenever one becomes free, until they are freed or the test ends. */
export async function takeConnections(t: Pick<Teardown, 'teardown'>, url: string): Promise<TakenConnections> {
  const held: pg.Client[] = []
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    return client.connect().then(
      () => held.push(client) > 0,
      () => false,
    )
  }
  const takeAll = async () => {
    while (await take());
  }
  await takeAll()
  const ended = new AbortController()
  const taking = (async () => {
    while (!ended.signal.aborted) if (!(await take())) await delay(5)
  })()
  const free = async () => {
    ended.abort()
    await taking
    await Promise.all(held.splice(0).map((client) => client.end().catch(() => undefined)))
  }
  t.teardown(free)
  const takeThoseOfKontor = async () => {
    await held[0]?.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like 'kontor%'`)
    await takeAll()
  }
  return { free, takeThoseOfKontor }
}
