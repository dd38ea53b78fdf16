import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { House } from '#bench/soak/house.ts'
import { childrenOf } from '#bench/soak/proc.ts'

/** One kill of the run. */
export interface Kill {
  readonly name: string
  readonly at: number
}

/** Where something is killed, and how many requests of each kind are being answered there. */
interface Scene {
  readonly house: House
  readonly databaseUrl: string
  readonly underWay: ReadonlyMap<string, number>
}

/** Something to kill. */
interface Victim {
  readonly name: string
  /** Its process; without this, the resident of its name. */
  readonly find?: (scene: Scene) => Promise<number | undefined>
  /** The kind of request that it should be at work for when it dies. */
  readonly during?: string
}

/** A session of the API in the database: the server ends all other sessions too and recovers from its log. */
const backend: Victim = { name: 'database backend', find: ({ databaseUrl }) => sessionOf(databaseUrl) }

const runner: Victim = { name: 'function runner', find: ({ house }) => runnerOf(house), during: 'invoke' }

/** What is killed, in turn: first the workers under load, so that their next lives go through the 200 s that memory is looked at. */
const victims: readonly Victim[] = [
  { name: 'flows' },
  { name: 'functions', during: 'invoke, creates' },
  { name: 'data', during: 'import' },
  { name: 'api 1' },
  backend,
  runner,
  { name: 'api 1' },
  backend,
  runner,
  { name: 'mail' },
  { name: 'schedule' },
]

const everyMs = 30_000
const longestWaitMs = 5_000

/** Kills one process every 30 s until `end` with SIGKILL, and tells of each. */
export async function killInTurn(scene: Scene, end: number, say: (line: string) => void): Promise<readonly Kill[]> {
  const kills: Kill[] = []
  const started = performance.now()
  for (let count = 0; started + (count + 2) * everyMs < end + 1_000; count++) {
    await delay(started + (count + 1) * everyMs - performance.now())
    const { name, find, during } = victims[count % victims.length] as Victim
    if (during) await comesUp(during, scene)
    const pid = find ? await find(scene) : scene.house.residents.find((one) => one.name === name)?.process.pid()
    if (pid === undefined) throw new Error(`There is no ${name} to kill`)
    process.kill(pid, 'SIGKILL')
    kills.push({ name, at: performance.now() })
    say(`${Math.round((performance.now() - started) / 1_000)} s: killed ${name} (${pid})`)
  }
  await delay(Math.max(0, end - performance.now()))
  return kills
}

/** Waits until a request of the kind has been under way for a moment, though not for ever. */
async function comesUp(kind: string, { underWay }: Scene): Promise<void> {
  for (const end = performance.now() + longestWaitMs; performance.now() < end; await delay(2)) {
    if ((underWay.get(kind) ?? 0) === 0) continue
    await delay(25)
    if ((underWay.get(kind) ?? 0) > 0) return
  }
}

async function sessionOf(databaseUrl: string): Promise<number | undefined> {
  const db = new pg.Client(databaseUrl)
  await db.connect()
  try {
    const text = `select pid from pg_stat_activity where application_name = 'kontor api' order by query_start desc nulls last limit 1`
    return (await db.query<{ pid: number }>(text)).rows[0]?.pid
  } finally {
    await db.end()
  }
}

async function runnerOf({ residents }: House): Promise<number | undefined> {
  const worker = residents.find(({ name }) => name === 'functions')?.process.pid()
  return worker === undefined ? undefined : (await childrenOf(worker)).at(-1)
}
