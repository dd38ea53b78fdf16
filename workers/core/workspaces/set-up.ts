import { createWorkspaceTables } from '#shared/core/types/builtin/create-workspace-tables.ts'
import { setUpWorkspace } from '#shared/core/workspaces/jobs.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

export default platformHandler(setUpWorkspace, ({ payload, commit }) =>
  commit(async ({ db }) => {
    await createWorkspaceTables(db, payload.workspaceId)
    return { result: { workspace_id: payload.workspaceId } }
  }),
)
