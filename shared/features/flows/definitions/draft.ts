import { overPlan, planCapOf } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { incrementDraftCount } from '#shared/features/flows/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Counts one draft by the assistant, per day in UTC. Throws AGENT_DISABLED when no assistant is configured, LIMIT_EXCEEDED when the free
 * plan's drafts of the day are used up.
 */
export async function consumeDraftQuota({ config, db, workspace, now }: Scope): Promise<void> {
  if (config.agent === null) throw problem('AGENT_DISABLED', undefined, { expected: true })
  const maxDrafts = planCapOf({ config, workspace }, 'draftsPerDay')
  if (maxDrafts === null) return
  const day = now().toISOString().slice(0, 10)
  const taken = await db.query(incrementDraftCount({ workspaceId: workspace.id, day, maxDrafts }))
  if (taken.length === 0) throw overPlan({ config }, 'draftsPerDay')
}
