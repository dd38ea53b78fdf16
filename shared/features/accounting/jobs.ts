import { ledgerVerification, sealSchema } from '#shared/features/accounting/seals/schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

// These three jobs read every entry. They share a gate, so one workspace takes at most two slots.
const wholeLedgerJob = {
  work: 'request',
  app: 'accounting',
  pool: 'data',
  concurrency: 4,
  gate: { name: 'accounting.read', perWorkspace: 2, priority: 0 },
  retry: retryPolicies.transient,
  timeoutSeconds: 600,
  tracked: true,
} as const

/** Seals the entries recorded before an instant. */
export const sealBooksJob = defineJob({
  ...wholeLedgerJob,
  name: 'accounting.seal',
  visible: ['until'],
  payload: schema(t.Object({ until: nullable(t.String()) })),
  result: sealSchema,
})

/** Recomputes seals, entries and balances, and reports differences. */
export const verifyLedgerJob = defineJob({
  ...wholeLedgerJob,
  name: 'accounting.verify',
  payload: schema(t.Object({})),
  result: ledgerVerification,
})

/** Exports the ledger to a file. */
export const exportLedgerJob = defineJob({
  ...wholeLedgerJob,
  name: 'accounting.export',
  visible: ['format', 'recordedBefore'],
  payload: schema(t.Object({ format: t.Enum(['hledger', 'beancount', 'csv']), recordedBefore: nullable(t.String()) })),
  result: schema(t.Null()),
})

/** Updates the month sums of a workspace. */
export const sumLedgerMonthsJob = defineJob({
  name: 'accounting.months',
  visible: ['workspaceId'],
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retryPolicies.transient,
  timeoutSeconds: 3_600,
  tracked: false,
  payload: schema(t.Object({ workspaceId: t.String() })),
  result: schema(t.Null()),
})
