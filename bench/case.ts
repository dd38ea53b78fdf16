import type { Loaded } from '#bench/data/load.ts'

/** What one side reached. */
export interface Side {
  /** In the case's unit. */
  readonly amount?: number
  readonly p50Ms?: number
  readonly p95Ms?: number
  readonly p99Ms?: number
  /** The slowest call. */
  readonly slowestMs?: number
  /** Answers of 500 and above. */
  readonly failed?: number
  /** The slowest answer of `/healthz` meanwhile. */
  readonly healthMs?: number
}

/** The figures of requests that were pressed for a time. */
export type Timed = Required<Pick<Side, 'amount' | 'p50Ms' | 'p95Ms' | 'p99Ms'>>

/** What a case is to reach; each that is given counts. Ratios are of Kontor's figure to the floor's. */
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

/** One line of the table: the floor and Kontor, measured in turn. */
export interface Case {
  /** Behind the name of its group. */
  readonly name: string
  /** What `amount` counts. */
  readonly unit: string
  /** What Kontor is held against; nothing where its own figure says enough. */
  readonly floor?: () => Promise<Side>
  readonly kontor: () => Promise<Side>
  /** Which figures the ratio is of: the amounts, where nothing is said. */
  readonly compares?: keyof Side
  readonly aims?: Aims
  /** How often it is measured, where that is not for the command line to say. */
  readonly rounds?: number
}

/** What cases stand on: running servers, loaded data and how hard to press them. */
export interface Bench {
  readonly loaded: Loaded
  /** Addresses of the API and of the bare routes. */
  readonly kontorUrl: string
  readonly floorUrl: string
  readonly databaseUrl: string
  /** The process of the API. */
  readonly kontorPid: number
  /** The environment of Kontor's processes. */
  readonly environment: NodeJS.ProcessEnv
  readonly connections: number
  readonly seconds: number
  /** What is to be done once the group's cases are measured, the last first. */
  readonly atEnd: (stop: () => Promise<void>) => void
}

/** Cases that share what they stand on, which is made when one of them is wanted. */
export interface Group {
  readonly name: string
  readonly cases: (bench: Bench) => Promise<readonly Case[]> | readonly Case[]
}
