import { createWorkspaceTables } from '#shared/types/set-up.ts'
import { setUpWorkspace } from '#shared/workspaces/jobs.ts'
import { platformHandler } from '#workers/handler.ts'

export default platformHandler(setUpWorkspace, ({ payload, commit }) =>
  commit(async ({ db }) => {
    await createWorkspaceTables(db, payload.workspaceId)
    return { result: { workspace_id: payload.workspaceId } }
  }),
)
