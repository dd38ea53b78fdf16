import type { feature } from '#shared/features/accounting/feature.ts'
import exportLedger from '#workers/features/accounting/export.ts'
import sumLedgerMonths from '#workers/features/accounting/month-sums.ts'
import sealBooks from '#workers/features/accounting/seal.ts'
import verifyLedger from '#workers/features/accounting/verify.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  sealBooks,
  verifyLedger,
  exportLedger,
  sumLedgerMonths,
} satisfies HandlersOf<typeof feature.jobs>
