import fc from 'fast-check'
import { digits } from '#test/features/accounting/model/model.ts'

/** One operation of a client; its subject is chosen by number among those that exist then. */
export type Operation =
  | {
      readonly do: 'post'
      readonly date: string
      readonly currency: string
      readonly parts: readonly Part[]
      readonly wrong: string | null
    }
  | { readonly do: 'reverse'; readonly choice: number; readonly date: string | null }
  | {
      readonly do: 'report'
      readonly report: Report
      readonly choice: number
      readonly currency: string
      readonly days: readonly [string, string]
    }
  | { readonly do: 'seal' }
  | { readonly do: 'sum months' }

/** An amount and the accounts that it goes from and to, by their numbers. */
export interface Part {
  readonly from: number
  readonly to: number
  /** Millionths. */
  readonly amount: bigint
}

export const reports = ['trial-balance', 'profit-loss', 'balance-sheet', 'ledger'] as const
export type Report = (typeof reports)[number]

const currency = fc.constantFrom(...Object.keys(digits))
const year = fc.integer({ min: 2021, max: 2026 })
const two = (from: number, to: number) => fc.integer({ min: from, max: to }).map((number) => String(number).padStart(2, '0'))
const day = fc.tuple(year, two(1, 12), two(1, 28)).map((parts) => parts.join('-'))
const choice = fc.nat({ max: 1_000_000 })

const part = fc.record({
  from: choice,
  to: choice,
  amount: fc.oneof(
    { weight: 8, arbitrary: fc.bigInt({ min: 1n, max: 10_000n }).map((cents) => cents * 10_000n) },
    { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 9_223_372_036_854_000_000n }) },
  ),
})

const post = fc.record({
  do: fc.constant('post' as const),
  date: day,
  currency,
  parts: fc.array(part, { minLength: 1, maxLength: 4 }),
  wrong: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, fc.constantFrom('unbalanced', 'account', 'both sides', 'currency')),
})

/** Operations of a run. */
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 12, arbitrary: post },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('reverse' as const), choice, date: fc.option(day) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      report: fc.constantFrom(...reports),
      choice,
      currency,
      days: fc.tuple(day, day).map(([one, other]): [string, string] => (one < other ? [one, other] : [other, one])),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'seal' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'sum months' as const }) },
)
