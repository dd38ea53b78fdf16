import { heardChanges } from '#shared/events/change.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/** What forms are called among those who hear of events: they hear of their own submissions. */
export const subscriber = 'forms'

const id = t.String({ format: 'uuid' })
const common = { pool: 'data', retry: retry.transient, timeoutSeconds: 60, tracked: false, result: schema(t.Null()) } as const

/** Does what follows submissions: a record each, and the form's function. */
export const followSubmissions = defineJob({
  ...common,
  name: 'forms.follow',
  kind: 'forms.follow',
  work: 'step',
  app: null,
  concurrency: 8,
  slotsPerWorkspace: 4,
  payload: heardChanges,
})

/** Notes on a submission how its function ended. */
export const runEnded = defineJob({
  ...common,
  name: 'forms.run-ended',
  kind: 'forms.run-ended',
  work: 'upkeep',
  app: null,
  concurrency: 4,
  payload: schema(t.Object({ workspaceId: id, formId: id, submissionId: id })),
})
