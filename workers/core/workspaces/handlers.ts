import type { feature } from '#shared/core/workspaces/feature.ts'
import setUpWorkspace from '#workers/core/workspaces/set-up.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  setUpWorkspace,
} satisfies HandlersOf<typeof feature.jobs>
