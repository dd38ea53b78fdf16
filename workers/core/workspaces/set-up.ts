import { createWorkspaceTables } from '#shared/core/types/builtin/create-workspace-tables.ts'
import { setUpWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

export default definePlatformHandler(setUpWorkspaceJob, ({ payload, commit }) =>
  commit(async ({ db }) => {
    await createWorkspaceTables(db, payload.workspaceId)
    return { result: { workspace_id: payload.workspaceId } }
  }),
)
