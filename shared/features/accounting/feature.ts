import type { Feature } from '#shared/core/automation/feature.ts'
import { ledgerEvents } from '#shared/features/accounting/events.ts'
import { accountGuard } from '#shared/features/accounting/guard.ts'
import { exportLedgerJob, sealBooksJob, sumLedgerMonthsJob, verifyLedgerJob } from '#shared/features/accounting/jobs.ts'
import { ledgerMetrics } from '#shared/features/accounting/metrics.ts'
import { accountingMethods } from '#shared/features/accounting/sdk.ts'

export const feature = {
  jobs: { sealBooks: sealBooksJob, verifyLedger: verifyLedgerJob, exportLedger: exportLedgerJob, sumLedgerMonths: sumLedgerMonthsJob },
  sdkMethods: accountingMethods,
  guards: [accountGuard],
  events: [ledgerEvents],
  metrics: ledgerMetrics,
} satisfies Feature
