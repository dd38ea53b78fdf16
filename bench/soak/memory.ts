import { withClient } from '#bench/servers/connection.ts'
import type { Installation } from '#bench/soak/installation.ts'
import { childrenOf, type Memory, memoryOf, parentOf } from '#bench/soak/proc.ts'

/** Memory of one process during its life; for short-lived processes, the largest and the sum. */
export interface Life {
  readonly name: string
  /** One sample per second: performance.now() and bytes. */
  readonly points: { readonly at: number; readonly bytes: number }[]
}

/** Memory over a part of a life. */
export interface Trend {
  readonly name: string
  readonly seconds: number
  /** Whether it is the last 200 s of the run. */
  readonly isWhole: boolean
  readonly firstMb: number
  readonly meanMb: number
  readonly highestMb: number
  /** Growth of the fitted straight line over 200 s, in megabytes and as a share of the mean. */
  readonly growthMb: number
  readonly growth: number
}

/** Period in which memory must be flat. */
const stretchMs = 200_000
/** Warm-up of a process, left out of lives that are shorter than the period. */
const warmUpMs = 30_000

/** Samples the memory of every process once a second until it is closed, and returns their lives. */
export async function watchMemory(installation: Installation, databaseUrl: string): Promise<() => readonly Life[]> {
  const server = await serverOf(databaseUrl)
  const lives = new Map<string, Life>()
  const note = (key: string, name: string, bytes: number): void => {
    const life = lives.get(key) ?? { name, points: [] }
    lives.set(key, life)
    life.points.push({ at: performance.now(), bytes })
  }
  const noteAll = (name: string, sizes: readonly number[]): void => {
    note(name, `${name}, largest`, Math.max(0, ...sizes))
    note(`${name}, all`, `${name}, all`, sum(sizes))
  }
  const sample = async (): Promise<void> => {
    for (const { name, process } of installation.residents) {
      const pid = process.pid()
      const memory = pid === undefined ? undefined : await memoryOf(pid)
      if (memory) note(`${name} ${pid}`, name, memory.resident)
      if (name === 'functions' && pid !== undefined) noteAll('function runners', await sizesOf(await childrenOf(pid), 'resident'))
    }
    noteAll('postgres', await sizesOf(await childrenOf(server), 'own'))
    const own = await memoryOf(process.pid)
    if (own) note('generator', 'generator', own.resident)
  }
  let isSampling = false
  const timer = setInterval(() => {
    if (isSampling) return
    isSampling = true
    void sample().finally(() => {
      isSampling = false
    })
  }, 1_000)
  return () => {
    clearInterval(timer)
    return [...lives.values()]
  }
}

const sizesOf = async (pids: readonly number[], part: keyof Memory): Promise<number[]> =>
  (await Promise.all(pids.map(memoryOf))).map((memory) => memory?.[part] ?? 0)

/** The trend of each process: over the last 200 s if it lived through them, else over its longest life. */
export function trendsOf(lives: readonly Life[], end: number): readonly Trend[] {
  const byName = Map.groupBy(lives, ({ name }) => name)
  const trends = [...byName].map(([name, ofName]) => {
    const whole = ofName.map(({ points }) => points.filter(({ at }) => at >= end - stretchMs && at <= end))
    const through = whole.find((points) => lengthOf(points) > stretchMs - 10_000)
    const longest = ofName.map(({ points }) => points).toSorted((one, other) => lengthOf(other) - lengthOf(one))[0] ?? []
    const points = through ?? longest.filter(({ at }) => at - (longest[0]?.at ?? 0) > warmUpMs)
    return trendOf(name, points, through !== undefined)
  })
  return trends.filter(({ seconds }) => seconds > 0)
}

const lengthOf = (points: Life['points']): number => (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)

function trendOf(name: string, points: Life['points'], isWhole: boolean): Trend {
  const times = points.map(({ at }) => at)
  const sizes = points.map(({ bytes }) => bytes / 1_048_576)
  const [meanTime, meanMb] = [mean(times), mean(sizes)]
  const spread = sum(times.map((time) => (time - meanTime) ** 2))
  const slope = sum(times.map((time, index) => (time - meanTime) * ((sizes[index] ?? 0) - meanMb))) / spread
  const growthMb = slope * stretchMs
  const seconds = lengthOf(points) / 1_000
  return { name, seconds, isWhole, firstMb: sizes[0] ?? 0, meanMb, highestMb: Math.max(...sizes), growthMb, growth: growthMb / meanMb }
}

/** The parent of all PostgreSQL processes. */
export function serverOf(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (db) => {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
    return (await parentOf(rows[0]?.pid ?? 0)) ?? 0
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length
