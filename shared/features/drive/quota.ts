import { overPlan, planCapOf, requireWithinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { changeUsage, findUsage } from '#shared/features/drive/store.ts'

/**
 * Adds bytes of files in spaces or websites to the workspace's usage; `bytes` is negative for deleted files. Throws LIMIT_EXCEEDED when
 * added bytes exceed the cap of the free plan (docs/contract/drive.md#storage-cap). Call it last in the transaction that commits the files,
 * after every lock.
 */
export async function addUsage(scope: Scope, bytes: number): Promise<void> {
  if (bytes === 0) return
  const [counted] = await scope.db.query(changeUsage({ workspaceId: scope.workspace.id, bytes, cap: planCapOf(scope, 'fileBytes') }))
  if (!counted) throw overPlan(scope, 'fileBytes')
}

/** Throws LIMIT_EXCEEDED when the cap of the plan is already reached. Call it before an upload, so that no file is sent in vain. */
export async function requireQuota(scope: Scope): Promise<void> {
  await requireWithinPlan(scope, 'fileBytes', async () => {
    const [usage] = await scope.db.query(findUsage({ workspaceId: scope.workspace.id }))
    return (usage?.total_bytes ?? 0) + 1
  })
}
