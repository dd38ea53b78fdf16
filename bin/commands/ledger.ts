import { schema, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, apiOptions } from '../command.ts'
import { exportLedger } from '../ledger/export-ledger.ts'
import { importChart } from '../ledger/import-chart.ts'
import { verifyLedger } from '../ledger/verify-ledger.ts'

export const ledgerCommands = [
  apiCommand({
    name: 'ledger verify',
    summary: 'Check a ledger: the chain of seals, the balance of every entry, the trial balances',
    options: schema(t.Object(apiOptions)),
    run: verifyLedger,
  }),
  apiCommand({
    name: 'ledger export',
    summary: 'Write a ledger for hledger or beancount, or as CSV',
    options: schema(
      t.Object({
        format: t.String({ description: 'hledger, beancount or csv' }),
        file: t.Optional(t.String({ description: 'where it is written; standard output otherwise' })),
        ...apiOptions,
      }),
    ),
    run: exportLedger,
  }),
  apiCommand({
    name: 'ledger chart',
    summary: 'Make the accounts of a chart to start with; without a name, show the charts there are',
    options: schema(t.Object({ name: t.Optional(t.String({ description: 'services, retail or non-profit' })), ...apiOptions })),
    run: importChart,
  }),
]
