import type { Feature } from '#shared/core/automation/feature.ts'
import { accountGuard } from '#shared/features/accounting/guard.ts'
import { exportLedger, sealBooks, sumLedgerMonths, verifyLedger } from '#shared/features/accounting/jobs.ts'
import { ledgerMetrics } from '#shared/features/accounting/metrics.ts'
import { accountingMethods } from '#shared/features/accounting/sdk.ts'

export const feature = {
  jobs: { sealBooks, verifyLedger, exportLedger, sumLedgerMonths },
  sdkMethods: accountingMethods,
  guards: [accountGuard],
  metrics: ledgerMetrics,
} satisfies Feature
