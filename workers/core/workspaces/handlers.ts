import type { feature } from '#shared/core/workspaces/feature.ts'
import deleteWorkspace from '#workers/core/workspaces/delete.ts'
import reportLeftOutRoles from '#workers/core/workspaces/report-left-out-roles.ts'
import setUpWorkspace from '#workers/core/workspaces/set-up.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  deleteWorkspace,
  reportLeftOutRoles,
  setUpWorkspace,
} satisfies HandlersOf<typeof feature.jobs>
