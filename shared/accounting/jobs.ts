import { sealSchema, verification } from '#shared/accounting/seal.ts'
import { nullable, schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

// All three read every entry there is. They share a gate, so that one workspace's large books take two slots at most.
const reading = {
  work: 'request',
  app: 'accounting',
  pool: 'data',
  concurrency: 4,
  gate: { name: 'accounting.read', perWorkspace: 2, lane: 0 },
  retry: retry.transient,
  timeoutSeconds: 600,
  tracked: true,
} as const

/** Seals what was recorded before an instant. */
export const sealBooks = defineJob({
  ...reading,
  name: 'accounting.seal',
  kind: 'accounting.seal',
  payload: schema(t.Object({ until: nullable(t.String()) })),
  result: sealSchema,
})

/** Computes the books again and tells what differs. */
export const verifyLedger = defineJob({
  ...reading,
  name: 'accounting.verify',
  kind: 'accounting.verify',
  payload: schema(t.Object({})),
  result: verification,
})

/** Writes the books to a file. */
export const exportLedger = defineJob({
  ...reading,
  name: 'accounting.export',
  kind: 'accounting.export',
  payload: schema(t.Object({ format: t.Enum(['hledger', 'beancount', 'csv']), recordedBefore: nullable(t.String()) })),
  result: schema(t.Null()),
})

/** Brings the sums of months of a workspace up to date. */
export const sumLedgerMonths = defineJob({
  name: 'accounting.months',
  kind: 'accounting.months',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retry.transient,
  timeoutSeconds: 3_600,
  tracked: false,
  payload: schema(t.Object({ workspaceId: t.String() })),
  result: schema(t.Null()),
})
