import { createWriteStream } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { LedgerVerification } from '#shared/features/accounting/seals/schemas.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import { apiCommand, apiOptions, type CommandResult } from '../command.ts'
import { chartAccounts, charts } from '../ledger/chart.ts'
import type { Shell } from '../shell.ts'

const exportOptions = schema(
  t.Object({
    format: t.String({ description: 'hledger, beancount or csv' }),
    file: t.Optional(t.String({ description: 'where it is written; standard output otherwise' })),
    ...apiOptions,
  }),
)
const chartOptions = schema(t.Object({ name: t.Optional(t.String({ description: 'services, retail or non-profit' })), ...apiOptions }))

export const ledgerCommands = [
  apiCommand({
    name: 'ledger verify',
    summary: 'Check a ledger: the chain of seals, the balance of every entry, the trial balances',
    options: schema(t.Object(apiOptions)),
    run: verifyLedger,
  }),
  apiCommand({
    name: 'ledger export',
    summary: 'Export a ledger for hledger or beancount, or as CSV',
    options: exportOptions,
    run: exportLedger,
  }),
  apiCommand({
    name: 'ledger chart',
    summary: 'Create the accounts of a starter chart; without a name, list the charts',
    options: chartOptions,
    run: importChart,
  }),
]

/** Verifies a workspace's ledger; `failed` is true when there are differences. */
async function verifyLedger(options: TargetOptions, shell: Shell): Promise<CommandResult> {
  const { api, orgId } = await findTarget(options, shell.environment)
  const found = await api.get<LedgerVerification>(`/orgs/${orgId}/accounting/verify`)
  const checked = `${found.entries} entries and ${found.seals} seals`
  const lines = found.differences.map(({ kind, id, detail }) => `${kind} ${id}: ${detail}`)
  return {
    data: found,
    lines: found.ok ? [`${checked}: no differences`] : [`${checked}: ${lines.length} differences`, ...lines],
    failed: !found.ok,
  }
}

/** Exports a workspace's ledger: streams it to a file, or prints it to standard output. */
async function exportLedger({ format, file, ...options }: TypeOf<typeof exportOptions>, shell: Shell): Promise<CommandResult> {
  const { api, orgId } = await findTarget(options, shell.environment)
  const bytes = await api.download(`/orgs/${orgId}/accounting/export?format=${encodeURIComponent(format)}`)
  if (file !== undefined) {
    const written = createWriteStream(file)
    await pipeline(bytes, written)
    return { data: { format, file, size_bytes: written.bytesWritten }, lines: [`${written.bytesWritten} bytes written to ${file}`] }
  }
  const parts: Buffer[] = []
  await pipeline(bytes, new Writable({ write: (part, _, next) => next(void parts.push(part) as unknown as null) }))
  const text = Buffer.concat(parts).toString()
  return { data: { format, text }, lines: [text.replace(/\n$/, '')] }
}

interface Result {
  readonly status: number
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Creates the accounts of a chart. An account whose code exists is kept; `failed` is true when any other account is refused. */
async function importChart({ name, ...options }: TypeOf<typeof chartOptions>, shell: Shell): Promise<CommandResult> {
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
      `${created} accounts created${present > 0 ? `, ${present} existed` : ''}`,
      ...errors.map(({ code, message }) => `${code}: ${message}`),
    ],
    failed: errors.length > 0,
  }
}

const describeCharts = (): string[] =>
  Object.entries(charts).map(([name, { summary, rows }]) => `${name.padEnd(12)}${rows.length} accounts for ${summary}`)
