import type { Loaded } from '#bench/data/load.ts'

/** What was measured of one of the two compared servers, Kontor or the floor. */
export interface Side {
  /** The figure in the case's unit, such as requests per second. */
  readonly amount?: number
  readonly p50Ms?: number
  readonly p95Ms?: number
  readonly p99Ms?: number
  /** The slowest call. */
  readonly slowestMs?: number
  /** Answers of 500 and above. */
  readonly failed?: number
  /** The slowest answer of `/healthz` during the measurement. */
  readonly healthMs?: number
}

/** The figures of requests that were sent for a time. */
export type Timed = Required<Pick<Side, 'amount' | 'p50Ms' | 'p95Ms' | 'p99Ms'>>

/** Aims of a case; all that are given must hold. A ratio is Kontor's figure divided by the floor's. */
export interface Aims {
  readonly ratioAtLeast?: number
  readonly ratioAtMost?: number
  readonly p50AtMostMs?: number
  readonly p95AtMostMs?: number
  readonly amountAtLeast?: number
  readonly amountAtMost?: number
  readonly slowestAtMostMs?: number
  readonly failedAtMost?: number
  readonly healthAtMostMs?: number
}

/** One line of the table: the floor and Kontor, measured in alternation. */
export interface Case {
  /** Follows the name of the group. */
  readonly name: string
  /** Unit of `amount`. */
  readonly unit: string
  /** Measures what Kontor is compared with; undefined where Kontor's own figure is enough. */
  readonly floor?: () => Promise<Side>
  readonly kontor: () => Promise<Side>
  /** The figures that the ratio compares; `amount` by default. */
  readonly compares?: keyof Side
  readonly aims?: Aims
  /** Number of rounds, in place of that of the command line. */
  readonly rounds?: number
}

/** Context of cases: running servers, loaded data and the load to apply. */
export interface Bench {
  readonly loaded: Loaded
  /** Addresses of the API and of the bare routes. */
  readonly kontorUrl: string
  readonly floorUrl: string
  readonly databaseUrl: string
  /** Process id of the API. */
  readonly kontorPid: number
  /** The environment of Kontor's processes. */
  readonly environment: NodeJS.ProcessEnv
  readonly connections: number
  readonly seconds: number
  /** Registers work for after the group's cases; the last registered runs first. */
  readonly atEnd: (stop: () => Promise<void>) => void
}

/** Cases with a common setup, which runs when one of them is chosen. */
export interface Group {
  readonly name: string
  readonly cases: (bench: Bench) => Promise<readonly Case[]> | readonly Case[]
}
