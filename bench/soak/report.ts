import type { Finding } from '#bench/soak/account.ts'
import type { Kill } from '#bench/soak/faults.ts'
import type { Trend } from '#bench/soak/memory.ts'
import type { Sample } from '#bench/soak/pace.ts'

/** The aims of the run. */
const aims = Object.freeze({
  /** Requests within this time after a kill do not count for the next two aims. */
  aroundMs: 10_000,
  p99Ms: 500,
  failed: 0,
  /** Maximum duration of any request. */
  longestMs: 10_000,
  /** Maximum growth of memory in 200 s: a share, or megabytes. */
  growth: 0.1,
  growthMb: 10,
})

/** A table of the run and the aims that it missed. */
export interface Part {
  readonly lines: readonly string[]
  readonly missed: readonly string[]
}

const timeOf = ({ dueAt, endedAt }: Sample): number => endedAt - dueAt

/** Whether any part of a request overlaps the time after a kill. */
const isNear = ({ dueAt, endedAt }: Sample, kills: readonly Kill[]): boolean =>
  kills.some(({ at }) => endedAt > at && dueAt < at + aims.aroundMs)

/** Per kind of request: the number, durations, and durations outside the time after kills. */
export function requestsPart(samples: readonly Sample[], kills: readonly Kill[]): Part {
  const away = samples.filter((sample) => !isNear(sample, kills))
  const kinds = [...Map.groupBy(samples, ({ kind }) => kind), ['all', [...samples]] as const]
  const rows = kinds.map(([name, ofKind]) => {
    const quiet = name === 'all' ? away : away.filter(({ kind }) => kind === name)
    const [times, quietTimes] = [ofKind.map(timeOf), quiet.map(timeOf)]
    const failed = ofKind.filter(({ failure }) => failure !== undefined).length
    return [
      name,
      ofKind.length,
      failed,
      ...[0.5, 0.99, 1].map((share) => at(times, share)),
      quiet.length,
      at(quietTimes, 0.99),
      at(quietTimes, 1),
    ]
  })
  const p99 = at(away.map(timeOf), 0.99)
  const [failures, hung] = [
    away.filter(({ failure }) => failure !== undefined),
    samples.filter((sample) => timeOf(sample) > aims.longestMs),
  ]
  const statuses = [...Map.groupBy(samples, ({ status, failure }) => (status === 0 ? `none (${failure})` : `${status}`))]
  return {
    lines: [
      ...table(['requests', 'count', 'failed', 'p50 ms', 'p99 ms', 'max ms', 'away from kills', 'p99 ms', 'max ms'], rows),
      `Answers: ${statuses.map(([status, all]) => `${status} × ${all.length}`).join(', ')}`,
    ],
    missed: [
      ...(p99 < aims.p99Ms ? [] : [`p99 away from kills is ${p99.toFixed(0)} ms, must be under ${aims.p99Ms}`]),
      ...(failures.length <= aims.failed
        ? []
        : [`${failures.length} requests away from kills failed: ${failures[0]?.kind} ${failures[0]?.failure}`]),
      ...(hung.length === 0
        ? []
        : [`${hung.length} requests took more than 10 s: ${[...new Set(hung.map(({ kind }) => kind))].join(', ')}`]),
    ],
  }
}

/** Per kill: the target, the requests that failed or took long, and the time until recovery. */
export function killsPart(samples: readonly Sample[], kills: readonly Kill[], start: number): Part {
  const rows = kills.map(({ name, at: killed }) => {
    const bad = badAfter(samples, killed)
    const failed = bad.filter(({ failure }) => failure !== undefined)
    const good = Math.max(0, ...bad.map(({ endedAt }) => endedAt - killed)) / 1_000
    const kinds = [...Map.groupBy(failed, ({ kind }) => kind)].map(([kind, all]) => `${kind} ${all.length}`).join(', ')
    return [
      `${((killed - start) / 1_000).toFixed(0)} s: ${name}`,
      failed.length,
      bad.length - failed.length,
      `${good.toFixed(1)} s`,
      ` ${kinds}`,
    ]
  })
  return { lines: table(['killed', 'failed', 'slow', 'good after', ' requests'], rows), missed: [] }
}

/** Requests that failed or took long, from a moment on until two seconds without any. */
function badAfter(samples: readonly Sample[], moment: number): Sample[] {
  const isBad = (sample: Sample) => sample.failure !== undefined || timeOf(sample) > aims.p99Ms
  const bad: Sample[] = []
  let last = moment
  for (const sample of samples.filter(({ endedAt }) => endedAt > moment).toSorted((one, other) => one.dueAt - other.dueAt)) {
    if (sample.dueAt > last + recoveredMs) break
    if (!isBad(sample)) continue
    bad.push(sample)
    last = Math.max(last, sample.endedAt)
  }
  return bad
}

const recoveredMs = 2_000

/** Sums over short-lived processes, and the load generator. */
const notJudged = /, all$|^generator$/

/** Memory and growth per process. A process that was killed in the last 200 s has no aim. */
export function memoryPart(trends: readonly Trend[]): Part {
  const rows = trends.map(({ name, seconds, firstMb, meanMb, highestMb, growthMb, growth }) => [
    name,
    `${seconds.toFixed(0)} s`,
    ...[firstMb, meanMb, highestMb, growthMb].map((mb) => mb.toFixed(1)),
    `${(growth * 100).toFixed(1)} %`,
  ])
  const judged = trends.filter(({ name, isWhole }) => isWhole && !notJudged.test(name))
  const rising = judged.filter(({ growth, growthMb }) => growth > aims.growth && growthMb > aims.growthMb)
  return {
    lines: table(['memory, MB', 'over', 'first', 'mean', 'highest', 'in 200 s', ''], rows),
    missed: rising.map(({ name, growthMb }) => `memory of ${name} grows by ${growthMb.toFixed(0)} MB in 200 s`),
  }
}

/** The database compared with the callers' memory. */
export function accountPart(findings: readonly Finding[]): Part {
  const rows = findings.map(({ what, count, wrong }) => [what, count, wrong.length])
  const wrong = findings.filter((finding) => finding.wrong.length > 0)
  return {
    lines: table(['accounting', 'checked', 'wrong'], rows),
    missed: wrong.map((finding) => `${finding.what}: ${finding.wrong.length} wrong, such as ${finding.wrong.slice(0, 3).join('; ')}`),
  }
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function table(heading: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = [heading, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'string' || Number.isInteger(cell) ? `${cell}` : cell.toFixed(1))),
  )
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const padded = (cell: string, column: number) =>
    column === 0 || cell.startsWith(' ') ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return cells.map((row) => row.map(padded).join('  ').trimEnd())
}
