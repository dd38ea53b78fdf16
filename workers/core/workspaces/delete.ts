import { deleteWorkspace } from '#shared/core/workspaces/delete-workspace.ts'
import { deleteWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

export default definePlatformHandler(deleteWorkspaceJob, async ({ payload, scope, signal }) => {
  await deleteWorkspace(scope, payload.workspaceId, signal)
  return { result: null }
})
