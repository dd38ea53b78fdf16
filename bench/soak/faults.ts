import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { House } from '#bench/soak/house.ts'
import { childrenOf } from '#bench/soak/proc.ts'

/** One kill of the run. */
export interface Kill {
  readonly name: string
  readonly at: number
}

/** What is killed, in turn. The first three stand for all that lives on to the end: its memory is looked at from there. */
const victims = ['api 1', 'functions', 'data', 'database backend', 'function runner', 'flows', 'api 1', 'database backend', 'mail'] as const

const everyMs = 30_000

/** Kills one process every 30 s until `end` with SIGKILL, and tells of each. */
export async function killInTurn(house: House, databaseUrl: string, end: number, say: (line: string) => void): Promise<readonly Kill[]> {
  const kills: Kill[] = []
  const started = performance.now()
  for (let count = 0; ; count++) {
    const at = started + (count + 1) * everyMs
    if (at + everyMs > end + 1_000) break
    await delay(at - performance.now())
    const name = victims[count % victims.length] as string
    const pid = (await find[name]?.(house, databaseUrl)) ?? house.residents.find((one) => one.name === name)?.process.pid()
    if (pid === undefined) throw new Error(`There is no ${name} to kill`)
    process.kill(pid, 'SIGKILL')
    kills.push({ name, at: performance.now() })
    say(`${Math.round((performance.now() - started) / 1_000)} s: killed ${name} (${pid})`)
  }
  await delay(Math.max(0, end - performance.now()))
  return kills
}

const find: Readonly<Record<string, (house: House, databaseUrl: string) => Promise<number | undefined>>> = {
  // The server ends all other sessions too and recovers from its log.
  'database backend': async (_, databaseUrl) => {
    const db = new pg.Client(databaseUrl)
    await db.connect()
    try {
      const text = `select pid from pg_stat_activity where application_name = 'kontor api' order by query_start desc nulls last limit 1`
      return (await db.query<{ pid: number }>(text)).rows[0]?.pid
    } finally {
      await db.end()
    }
  },
  'function runner': async ({ residents }) => {
    const worker = residents.find(({ name }) => name === 'functions')?.process.pid()
    return worker === undefined ? undefined : (await childrenOf(worker)).at(-1)
  },
}
