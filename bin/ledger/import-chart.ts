import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'
import { chartAccounts, charts } from './chart.ts'

interface ChartOptions extends TargetOptions {
  readonly name?: string | undefined
}

interface Result {
  readonly status: number
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Creates the accounts of a chart. An account whose code exists is kept; `failed` is true when any other account is refused. */
export async function importChart({ name, ...options }: ChartOptions, shell: Shell): Promise<CommandResult> {
  if (name === undefined) return { data: { charts: Object.keys(charts) }, lines: describeCharts() }
  const accounts = chartAccounts(name)
  const { api, orgId } = await findTarget(options, shell.environment)
  const operations = accounts.map((values) => ({ op: 'create', values }))
  const { results } = await api.post<{ results: readonly Result[] }>(`/orgs/${orgId}/records/accounts/batch`, { json: { operations } })
  const created = results.filter(({ status }) => status === 201).length
  const present = results.filter(({ error }) => error?.code === 'DUPLICATE_VALUE').length
  const errors = results.flatMap(({ error }, index) =>
    error && error.code !== 'DUPLICATE_VALUE' ? [{ code: accounts[index]?.code, message: error.message }] : [],
  )
  return {
    data: { chart: name, created, present, errors },
    lines: [
      `${created} accounts made${present > 0 ? `, ${present} were there` : ''}`,
      ...errors.map(({ code, message }) => `${code}: ${message}`),
    ],
    failed: errors.length > 0,
  }
}

const describeCharts = (): string[] =>
  Object.entries(charts).map(([name, { summary, rows }]) => `${name.padEnd(12)}${rows.length} accounts for ${summary}`)
