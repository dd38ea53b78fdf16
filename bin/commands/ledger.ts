import { schema, t } from '#shared/kernel/schema.ts'
import { apiCommand } from '../command.ts'
import { exportLedger } from '../ledger/export-ledger.ts'
import { importChart } from '../ledger/import-chart.ts'
import { verifyLedger } from '../ledger/verify-ledger.ts'

const target = {
  url: t.Optional(t.String({ description: 'base address of the API; KONTOR_URL, or the one that npm start left here' })),
  key: t.Optional(t.String({ description: 'access key; KONTOR_KEY, or the one that npm start left here' })),
  org: t.Optional(t.String({ description: 'id of the workspace; KONTOR_ORG, or the only one of the key' })),
}

export const ledgerCommands = [
  apiCommand({
    name: 'ledger verify',
    summary: 'Check a ledger: the chain of seals, the balance of every entry, the trial balances',
    options: schema(t.Object(target)),
    run: verifyLedger,
  }),
  apiCommand({
    name: 'ledger export',
    summary: 'Write a ledger for hledger or beancount, or as CSV',
    options: schema(
      t.Object({
        format: t.String({ description: 'hledger, beancount or csv' }),
        file: t.Optional(t.String({ description: 'where it is written; standard output otherwise' })),
        ...target,
      }),
    ),
    run: exportLedger,
  }),
  apiCommand({
    name: 'ledger chart',
    summary: 'Make the accounts of a chart to start with; without a name, show the charts there are',
    options: schema(t.Object({ name: t.Optional(t.String({ description: 'services, retail or non-profit' })), ...target })),
    run: importChart,
  }),
]
