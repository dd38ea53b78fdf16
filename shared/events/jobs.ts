import { dispatch } from '#shared/events/change.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/**
 * Hands changes of records on: one job for each subscriber that listens. The database files it in the statement that makes the changes
 * (`dispatch_changes`), under this name.
 */
export const dispatchChanges = defineJob({
  name: 'events.dispatch',
  kind: 'events.dispatch',
  pool: 'flows',
  concurrency: 100,
  retry: retry.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: dispatch,
  result: schema(t.Null()),
})
