import { batchResults } from '#shared/core/records/change/batch-schemas.ts'
import { matchingOutcome } from '#shared/core/records/change/matching-schemas.ts'
import { importOutcome, importParameters } from '#shared/core/records/csv/schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

// Imports and exports have gates because a workspace may have many of them waiting. Without a gate, a fetch that skips a busy workspace
// reads past all of its jobs. Measured beside 100,000 waiting exports of another workspace: an export took 8 times its quiet time without
// a gate, and twice its quiet time with one.

/** Jobs that a caller waits for. */
const requestJob = { work: 'request', app: null, pool: 'data', concurrency: 4, timeoutSeconds: 300, tracked: true } as const

/** Creates records of a type from a CSV file, or changes them. */
export const importRecordsJob = defineJob({
  ...requestJob,
  name: 'records.import',
  causes: 'import',
  visible: ['typeKey', 'fileId'],
  gate: { name: 'records.import', perWorkspace: 2, priority: 0 },
  retry: retryPolicies.transient,
  // Jobs of earlier releases have no query.
  payload: schema(t.Object({ typeKey: t.String(), fileId: t.String(), query: t.Optional(importParameters) })),
  result: importOutcome,
})

/** Writes the matching records of a type that the caller may read to a CSV file. */
export const exportRecordsJob = defineJob({
  ...requestJob,
  name: 'records.export',
  visible: ['typeKey'],
  gate: { name: 'records.export', perWorkspace: 2, priority: 0 },
  retry: retryPolicies.transient,
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
 * Runs a batch of changes. One batch at a time per workspace: concurrent batches lock records, unique values and numbers that the other
 * batch needs, and deadlock (measured in the API: 39 of 40 batches over 7 records).
 */
export const changeRecordsJob = defineJob({
  ...requestJob,
  name: 'records.change',
  causes: 'batch',
  visible: ['typeKey', 'atomic'],
  gate: { name: 'records.change', perWorkspace: 1, priority: 0 },
  retry: retryPolicies.once,
  payload: schema(
    t.Object({
      typeKey: nullable(t.String({ description: 'The type of all operations; null where each names its own.' })),
      // Text, so that the job tables keep a number such as 1e100000 unchanged.
      operations: t.String({ description: 'JSON text' }),
      atomic: t.Boolean(),
    }),
  ),
  result: batchResults,
})

/**
 * Changes or deletes the records of a type that match a filter. One at a time per workspace, as batches: two would lock records and unique
 * values that the other one needs.
 */
export const changeMatchingJob = defineJob({
  ...requestJob,
  name: 'records.change-matching',
  causes: 'batch',
  gate: { name: 'records.change-matching', perWorkspace: 1, priority: 0 },
  retry: retryPolicies.transient,
  timeoutSeconds: 600,
  payload: schema(
    t.Object({
      typeKey: t.String(),
      // Text, for the reason above.
      filter: t.String({ description: 'JSON text' }),
      values: nullable(t.String({ description: 'JSON text; null deletes the records' })),
    }),
  ),
  result: matchingOutcome,
})
