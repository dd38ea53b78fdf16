import { loadShareMembers, loadWorkspace } from '#shared/core/scope/workspace.ts'
import type { WorkerServices } from '#workers/core/scope/attempt.ts'
import type { WorkspaceShares } from '#workers/platform/jobs/job-loop.ts'

/** The shares of workspaces, from the same cache entries that attempts use. */
export const createWorkspaceShares = ({ cache, db }: Pick<WorkerServices, 'cache' | 'db'>): WorkspaceShares => ({
  shareOf: async (workspaceId) => (await loadWorkspace(cache, db, workspaceId))?.share_id ?? workspaceId,
  membersOf: (shareId) => loadShareMembers(cache, db, shareId),
})
