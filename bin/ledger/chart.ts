import { problem } from '#shared/platform/kernel/errors.ts'
import { nonProfit } from './charts/non-profit.ts'
import { retail } from './charts/retail.ts'
import { services } from './charts/services.ts'

/** A row of a chart of accounts: code, name, and a description where the name does not suffice. */
type ChartRow = readonly [code: string, name: string, description?: string]

/** A starter chart of accounts. The first digit of a code determines the kind of the account. */
interface Chart {
  readonly summary: string
  readonly rows: readonly ChartRow[]
}

/** All charts by name. */
export const charts: Readonly<Record<string, Chart>> = { services, retail, 'non-profit': nonProfit }

const kinds: Readonly<Record<string, string>> = { 1: 'asset', 2: 'liability', 3: 'equity', 4: 'revenue', 5: 'expense', 6: 'expense' }

/** Returns the accounts of a chart as record values. Throws VALIDATION_ERROR that lists the charts for an unknown name. */
export function chartAccounts(name: string): { code: string; name: string; kind: string; description: string | null }[] {
  const chart = Object.hasOwn(charts, name) ? charts[name] : undefined
  if (!chart) throw problem('VALIDATION_ERROR', `There is no chart ${name}: choose one of ${Object.keys(charts).join(', ')}`)
  return chart.rows.map(([code, name, description = null]) => ({ code, name, kind: kinds[code.charAt(0)] ?? '', description }))
}
