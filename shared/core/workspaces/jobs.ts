import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Creates the schema and built-in types of a new workspace. Until it is done, the workspace's routes answer ORG_NOT_READY. */
export const setUpWorkspaceJob = defineJob({
  name: 'workspaces.set-up',
  kind: 'workspace.set-up',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 4,
  retry: retryPolicies.transient,
  timeoutSeconds: 60,
  tracked: true,
  payload: schema(t.Object({ workspaceId: t.String() })),
  result: schema(t.Object({ workspace_id: t.String() })),
})
