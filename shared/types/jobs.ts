import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/** Computes the computed fields of every record of a type, after a formula was set. */
export const recomputeRecords = defineJob({
  name: 'records.recompute',
  kind: 'records.recompute',
  pool: 'data',
  concurrency: 2,
  perWorkspace: 1,
  retry: retry.transient,
  timeoutSeconds: 3_600,
  tracked: true,
  payload: schema(t.Object({ typeKey: t.String() })),
  result: schema(t.Object({ records: t.Integer() })),
})

/** Removes the table of a record type that was deleted. */
export const dropTable = defineJob({
  name: 'types.drop-table',
  kind: 'type.drop-table',
  pool: 'data',
  concurrency: 1,
  retry: retry.patient,
  timeoutSeconds: 120,
  tracked: false,
  payload: schema(t.Object({ workspaceId: t.String(), typeId: t.String() })),
  result: schema(t.Object({})),
})
