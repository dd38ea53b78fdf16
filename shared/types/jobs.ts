import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

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
