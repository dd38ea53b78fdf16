import { fieldChangeShape, fieldView } from '#shared/core/types/fields/schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Recomputes the computed fields of every record of a type after a formula was set. */
export const recomputeRecordsJob = defineJob({
  name: 'records.recompute',
  causes: 'recompute',
  visible: ['typeKey'],
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retryPolicies.transient,
  timeoutSeconds: 3_600,
  tracked: true,
  payload: schema(t.Object({ typeKey: t.String() })),
  result: schema(t.Object({ records: t.Integer() })),
})

/** Changes a field's definition after a check that every record of its type meets the new restrictions. */
export const changeFieldJob = defineJob({
  name: 'fields.change',
  visible: ['fieldId'],
  kind: 'field.change',
  work: 'request',
  app: null,
  pool: 'data',
  concurrency: 4,
  slotsPerWorkspace: 2,
  retry: retryPolicies.transient,
  timeoutSeconds: 3_600,
  tracked: true,
  payload: schema(t.Object({ fieldId: t.String(), change: fieldChangeShape })),
  result: fieldView,
})

/** Drops the table of a deleted record type. */
export const dropTableJob = defineJob({
  name: 'types.drop-table',
  visible: ['workspaceId', 'typeId'],
  cancel: 'refused',
  kind: 'type.drop-table',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 1,
  retry: retryPolicies.patient,
  timeoutSeconds: 120,
  tracked: false,
  payload: schema(t.Object({ workspaceId: t.String(), typeId: t.String() })),
  result: schema(t.Object({})),
})
