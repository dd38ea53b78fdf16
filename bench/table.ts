import type { Aims, Case, Side } from '#bench/case.ts'

/** A measured case: the medians of its rounds. */
export interface Row {
  readonly name: string
  readonly case: Case
  readonly floor: Side
  readonly kontor: Side
  /** Kontor's figure divided by the floor's; NaN without a floor. */
  readonly ratio: number
}

const nameWidth = 50
const unitWidth = 12

/** The first line of the table. */
export const heading = (): string =>
  `${'case'.padEnd(nameWidth)}${'unit'.padEnd(unitWidth)}${side('floor')}${side('kontor')}${'ratio'.padStart(8)}  aim`

/** A line of the table; a missed aim is marked at its end. */
export function line(row: Row): string {
  const { name, floor, kontor, ratio } = row
  const shown = Number.isNaN(ratio) ? '–' : ratio.toFixed(2)
  const end = isMissed(row) ? '  MISSED' : ''
  return `${name.padEnd(nameWidth)}${row.case.unit.padEnd(unitWidth)}${figures(floor)}${figures(kontor)}${shown.padStart(8)}  ${aimsOf(row)}${beside(kontor)}${end}`
}

/** Whether a case misses one of its aims. */
export const isMissed = (row: Row): boolean => given(row.case.aims).some(([kind, aim]) => !kinds[kind].holds(row, aim))

/** The text of each kind of aim, and when it holds. A missing figure misses the aim. */
const kinds: Readonly<Record<keyof Aims, { says: (aim: number) => string; holds: (row: Row, aim: number) => boolean }>> = {
  ratioAtLeast: { says: (aim) => `≥ ${aim.toFixed(2)}`, holds: ({ ratio }, aim) => ratio >= aim },
  ratioAtMost: { says: (aim) => `≤ ${aim.toFixed(2)}`, holds: ({ ratio }, aim) => ratio <= aim },
  p50AtMostMs: { says: (aim) => `p50 ≤ ${aim} ms`, holds: ({ kontor }, aim) => (kontor.p50Ms ?? Number.NaN) <= aim },
  p95AtMostMs: { says: (aim) => `p95 ≤ ${aim} ms`, holds: ({ kontor }, aim) => (kontor.p95Ms ?? Number.NaN) <= aim },
  amountAtLeast: { says: (aim) => `≥ ${whole(aim)}`, holds: ({ kontor }, aim) => (kontor.amount ?? Number.NaN) >= aim },
  amountAtMost: { says: (aim) => `≤ ${whole(aim)}`, holds: ({ kontor }, aim) => (kontor.amount ?? Number.NaN) <= aim },
  slowestAtMostMs: { says: (aim) => `slowest ≤ ${aim} ms`, holds: ({ kontor }, aim) => (kontor.slowestMs ?? Number.NaN) <= aim },
  failedAtMost: { says: (aim) => `failed ≤ ${aim}`, holds: ({ kontor }, aim) => (kontor.failed ?? Number.NaN) <= aim },
  healthAtMostMs: { says: (aim) => `/healthz ≤ ${aim} ms`, holds: ({ kontor }, aim) => (kontor.healthMs ?? Number.NaN) <= aim },
}

/** Figures of a case with attacks, which have no column. */
const beside = ({ slowestMs, failed, healthMs }: Side): string =>
  slowestMs === undefined ? '' : `  (slowest ${whole(slowestMs)} ms, ${failed} failed, /healthz ${whole(healthMs)} ms)`

const given = (aims: Aims = {}): [keyof Aims, number][] => Object.entries(aims) as [keyof Aims, number][]

const aimsOf = (row: Row): string =>
  given(row.case.aims)
    .map(([kind, aim]) => kinds[kind].says(aim))
    .join(', ') || '–'

const side = (name: string): string => name.padStart(10) + 'p50 ms'.padStart(10) + 'p99 ms'.padStart(10)

const figures = ({ amount, p50Ms, p99Ms }: Side): string => whole(amount).padStart(10) + fine(p50Ms).padStart(10) + fine(p99Ms).padStart(10)

const whole = (value?: number): string => (value === undefined ? '–' : Math.round(value).toLocaleString('en'))
const fine = (value?: number): string => (value === undefined ? '–' : value.toFixed(2))
