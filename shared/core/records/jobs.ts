import { batchResults } from '#shared/core/records/change/batch-schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

/** What an import answers (document 1, Records): rows are independent, a bad one is reported and skipped. */
export const importOutcome = schema(
  t.Object(
    {
      created: t.Integer({ minimum: 0 }),
      failed: t.Integer({ minimum: 0 }),
      errors: t.Array(
        t.Object({ row: t.Integer({ minimum: 1, description: 'Counts data rows from 1, without the header.' }), message: t.String() }),
      ),
    },
    { title: 'ImportOutcome' },
  ),
)

// Imports and exports have gates, because their waiting jobs may be many: a fetch that must leave out those of a busy workspace reads past
// all of them (beside 100,000, another workspace's export took 8 times as long; with a gate it takes twice as long, busy machine both times).

/** Creates records of a type from a CSV file. */
export const importRecordsJob = defineJob({
  name: 'records.import',
  kind: 'records.import',
  work: 'request',
  app: null,
  pool: 'data',
  concurrency: 4,
  gate: { name: 'records.import', perWorkspace: 2, lane: 0 },
  retry: retryPolicies.transient,
  timeoutSeconds: 300,
  tracked: true,
  payload: schema(t.Object({ typeKey: t.String(), fileId: t.String() })),
  result: importOutcome,
})

/** Writes the records of a type that match and that the caller may read to a CSV file. */
export const exportRecordsJob = defineJob({
  name: 'records.export',
  kind: 'records.export',
  work: 'request',
  app: null,
  pool: 'data',
  concurrency: 4,
  gate: { name: 'records.export', perWorkspace: 2, lane: 0 },
  retry: retryPolicies.transient,
  timeoutSeconds: 300,
  tracked: true,
  payload: schema(
    t.Object({
      typeKey: t.String(),
      q: nullable(t.String()),
      filter: nullable(t.String()),
      sort: nullable(t.String()),
      dir: nullable(t.String()),
    }),
  ),
  result: schema(t.Null()),
})

/**
 * Does a batch of changes. One at a time in a workspace: two at once hold records, values of unique fields and numbers that each other
 * needs, and end in a deadlock (measured in the API: of 40 batches over 7 records, 39).
 */
export const changeRecordsJob = defineJob({
  name: 'records.change',
  kind: 'records.change',
  work: 'request',
  app: null,
  pool: 'data',
  concurrency: 4,
  gate: { name: 'records.change', perWorkspace: 1, lane: 0 },
  retry: retryPolicies.once,
  timeoutSeconds: 300,
  tracked: true,
  payload: schema(
    t.Object({
      typeKey: t.String(),
      // As text, so that a number such as 1e100000 stays what it is in the queue's tables.
      operations: t.String({ description: 'JSON text' }),
      atomic: t.Boolean(),
    }),
  ),
  result: batchResults,
})
