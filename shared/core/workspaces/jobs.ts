import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

/** Creates the schema and built-in types of a new workspace. Until it is done, the workspace's routes answer ORG_NOT_READY. */
export const setUpWorkspaceJob = defineJob({
  name: 'workspaces.set-up',
  visible: ['workspaceId'],
  cancel: 'refused',
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

/** Notifies those who manage members that a person joined without roles that the inviter may no longer give. */
export const reportLeftOutRolesJob = defineJob({
  name: 'workspaces.report-left-out-roles',
  visible: ['invitationId'],
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 4,
  slotsPerWorkspace: 2,
  retry: retryPolicies.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ invitationId: t.String(), person: t.String(), inviter: nullable(t.String()), roles: t.Array(t.String()) })),
  result: schema(t.Null()),
})

/** Deletes everything of a workspace whose deletion an operator has requested. */
export const deleteWorkspaceJob = defineJob({
  name: 'workspaces.delete',
  visible: ['workspaceId'],
  cancel: 'refused',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 1,
  retry: retryPolicies.transient,
  timeoutSeconds: 3_600,
  tracked: false,
  payload: schema(t.Object({ workspaceId: t.String() })),
  result: schema(t.Null()),
})
