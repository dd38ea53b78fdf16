import { setTimeout as delay } from 'node:timers/promises'
import { withClient } from '#bench/servers/connection.ts'
import type { Installation, Resident } from '#bench/soak/installation.ts'
import { childrenOf } from '#bench/soak/proc.ts'

/** One kill of the run. */
export interface Kill {
  readonly name: string
  readonly at: number
}

/** Surroundings of a kill: the installation, and the open requests of each kind. */
interface Scene {
  readonly installation: Installation
  readonly databaseUrl: string
  readonly underWay: ReadonlyMap<string, number>
}

/** A target of kills. */
interface Victim {
  readonly name: string
  /** Finds its processes; without it, the resident of its name. */
  readonly find?: (scene: Scene) => Promise<readonly number[]>
  /** The kind of request that it should be working on when it is killed. */
  readonly during?: string
}

/** A session of the API in the database: the server ends all other sessions too and recovers from its log. */
const backend: Victim = { name: 'database backend', find: ({ databaseUrl }) => sessionOf(databaseUrl) }

const runners: Victim = { name: 'function runners', find: ({ installation }) => runnersOf(installation), during: 'invoke' }

/** The targets in rotation: first the workers under load, so that their next lives cover the 200 s in which memory is measured. */
const victims: readonly Victim[] = [
  { name: 'flows' },
  { name: 'functions', during: 'invoke, creates' },
  { name: 'data', during: 'import' },
  { name: 'api 1' },
  backend,
  runners,
  { name: 'api 1' },
  backend,
  runners,
  { name: 'mail' },
  { name: 'schedule' },
]

const everyMs = 30_000
const maxWaitMs = 5_000

/** Kills a target every 30 s until `end` with SIGKILL, and reports each kill. */
export async function killInRotation(scene: Scene, end: number, say: (line: string) => void): Promise<readonly Kill[]> {
  const kills: Kill[] = []
  const started = performance.now()
  for (let count = 0; started + (count + 2) * everyMs < end + 1_000; count++) {
    await delay(started + (count + 1) * everyMs - performance.now())
    const { name, find, during } = victims[count % victims.length] as Victim
    if (during) await comesUp(during, scene)
    const pids = find ? await find(scene) : scene.installation.residents.filter((one) => one.name === name).flatMap(pidOf)
    if (pids.length === 0) throw new Error(`There is no ${name} to kill`)
    for (const pid of pids) kill(pid)
    kills.push({ name, at: performance.now() })
    say(`${Math.round((performance.now() - started) / 1_000)} s: killed ${name} (${pids.join(', ')})`)
  }
  await delay(Math.max(0, end - performance.now()))
  return kills
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended by itself meanwhile.
  }
}

/** Waits until a request of the kind has been open for a moment, within a limit. */
async function comesUp(kind: string, { underWay }: Scene): Promise<void> {
  for (const end = performance.now() + maxWaitMs; performance.now() < end; await delay(2)) {
    if ((underWay.get(kind) ?? 0) === 0) continue
    await delay(25)
    if ((underWay.get(kind) ?? 0) > 0) return
  }
}

const pidOf = ({ process }: Resident): number[] => [process.pid() ?? []].flat()

function sessionOf(databaseUrl: string): Promise<number[]> {
  return withClient(databaseUrl, async (db) => {
    const text = `select pid from pg_stat_activity where application_name ~ '^kontor api [0-9a-f]{8}$' order by query_start desc nulls last limit 1`
    return (await db.query<{ pid: number }>(text)).rows.map(({ pid }) => pid)
  })
}

async function runnersOf({ residents }: Installation): Promise<number[]> {
  const workers = residents.filter(({ name }) => name === 'functions').flatMap(pidOf)
  return (await Promise.all(workers.map(childrenOf))).flat()
}
