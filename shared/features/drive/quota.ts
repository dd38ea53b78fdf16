import { overPlan, planCapOf, requireWithinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { changeUsage, findUsage } from '#shared/features/drive/store.ts'

/**
 * Counts bytes of files that come or go, below zero for those that go, of spaces and websites alike. In a workspace of the free plan what
 * comes must fit: throws LIMIT_EXCEEDED. Call it last in the transaction that commits the files, after every lock (decisions, Drive).
 */
export async function takeQuota(scope: Scope, bytes: number): Promise<void> {
  if (bytes === 0) return
  const [counted] = await scope.db.query(changeUsage(scope.workspace.id, bytes, planCapOf(scope, 'fileBytes')))
  if (!counted) throw overPlan(scope, 'fileBytes')
}

/** Throws LIMIT_EXCEEDED where the cap is reached already, so that nobody sends a file in vain. */
export async function requireQuota(scope: Scope): Promise<void> {
  await requireWithinPlan(scope, 'fileBytes', async () => {
    const [usage] = await scope.db.query<{ total_bytes: number }>(findUsage(scope.workspace.id))
    return (usage?.total_bytes ?? 0) + 1
  })
}
