import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** A line of the model: the amount that it adds to its account, positive for a debit. */
export interface ModelLine {
  readonly account: string
  readonly amount: Decimal
}

/** An entry that was acknowledged. */
export interface ModelEntry {
  readonly id: string
  readonly date: string
  readonly currency: string
  readonly createdAt: string
  readonly reverses: string | null
  readonly lines: readonly ModelLine[]
}

/** The digits of the currencies that the model knows, by hand. */
export const digits = { USD: 2, EUR: 2, JPY: 0, KWD: 3, CLF: 4 } as const
export type Currency = keyof typeof digits

/** An amount as the API writes it. */
export const shown = (amount: Decimal, currency: string): string =>
  amount.isZero()
    ? new Decimal(0).toFixed(digits[currency as Currency])
    : amount.toFixed(Math.max(amount.decimalPlaces(), digits[currency as Currency]))

/** Which entries a report is of. */
export interface Asked {
  readonly currency: string
  readonly before: string
  readonly from?: string
  readonly to?: string
}

/** The books in memory, as simple as they can be: a list of entries, and every report a walk over all of it. */
export class Model {
  readonly kinds: ReadonlyMap<string, string>
  readonly entries: ModelEntry[] = []

  /** Accounts by id, with their kinds. */
  constructor(kinds: ReadonlyMap<string, string>) {
    this.kinds = kinds
  }

  /** Debits and credits by account. */
  sums({ currency, before, from = '', to = '9999-99-99' }: Asked): Map<string, { debit: Decimal; credit: Decimal }> {
    const sums = new Map<string, { debit: Decimal; credit: Decimal }>()
    for (const entry of this.entries) {
      if (entry.currency !== currency || entry.createdAt >= before || entry.date < from || entry.date > to) continue
      for (const { account, amount } of entry.lines) {
        const sum = sums.get(account) ?? { debit: new Decimal(0), credit: new Decimal(0) }
        const side = amount.isPositive() ? 'debit' : 'credit'
        sums.set(account, { ...sum, [side]: sum[side].plus(amount.abs()) })
      }
    }
    return sums
  }

  trialBalance(asked: Asked): object[] {
    return [...this.sums(asked)]
      .map(([account_id, { debit, credit }]) => ({
        account_id,
        debit: shown(debit, asked.currency),
        credit: shown(credit, asked.currency),
        balance: shown(debit.minus(credit), asked.currency),
      }))
      .sort((one, other) => (one.account_id < other.account_id ? -1 : 1))
  }

  /** Debit less credit of all accounts of a kind. */
  total(kind: string, asked: Asked): Decimal {
    return [...this.sums(asked)]
      .filter(([account]) => this.kinds.get(account) === kind)
      .reduce((sum, [, { debit, credit }]) => sum.plus(debit).minus(credit), new Decimal(0))
  }

  profitLoss(asked: Asked): object {
    const [revenue, expense] = [this.total('revenue', asked).neg(), this.total('expense', asked)]
    return {
      revenue: shown(revenue, asked.currency),
      expense: shown(expense, asked.currency),
      net: shown(revenue.minus(expense), asked.currency),
    }
  }

  balanceSheet(asked: Asked): object {
    const [assets, liabilities, equity] = [
      this.total('asset', asked),
      this.total('liability', asked).neg(),
      this.total('equity', asked).neg(),
    ]
    const earnings = this.total('revenue', asked).plus(this.total('expense', asked)).neg()
    const balanced = assets.eq(liabilities.plus(equity).plus(earnings))
    const [shownAssets, shownLiabilities, shownEquity, shownEarnings] = [assets, liabilities, equity, earnings].map((sum) =>
      shown(sum, asked.currency),
    )
    return { assets: shownAssets, liabilities: shownLiabilities, equity: shownEquity, earnings: shownEarnings, balanced }
  }

  /** An account's running balances, by date, then by posting. */
  ledger(account: string, { currency, before, from = '', to = '9999-99-99' }: Asked): object {
    const own = this.entries
      .filter((entry) => entry.currency === currency && entry.createdAt < before && entry.date <= to)
      .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    let [balance, opening] = [new Decimal(0), new Decimal(0)]
    const rows: object[] = []
    for (const { id, date, lines } of own) {
      for (const line of lines.filter((line) => line.account === account)) {
        balance = balance.plus(line.amount)
        if (date < from) opening = balance
        else rows.push({ entry_id: id, date, balance: shown(balance, currency) })
      }
    }
    return { opening: shown(opening, currency), closing: shown(balance, currency), rows }
  }

  /** How many entries have a status. */
  count(status: string, currency: string): number {
    const reversed = new Set(this.entries.map(({ reverses }) => reverses))
    const has: Readonly<Record<string, (entry: ModelEntry) => boolean>> = {
      active: ({ id, reverses }) => reverses === null && !reversed.has(id),
      reversed: ({ id }) => reversed.has(id),
      reversal: ({ reverses }) => reverses !== null,
    }
    return this.entries.filter((entry) => entry.currency === currency && has[status]?.(entry)).length
  }
}

const keyOf = ({ date, createdAt, id }: ModelEntry): string => `${date} ${createdAt} ${id}`
