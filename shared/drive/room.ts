import { changeUsage, findUsage } from '#shared/drive/store/usage.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'

const full = (cap: number) => problem('LIMIT_EXCEEDED', `The free plan holds files of at most ${Math.floor(cap / 1024 / 1024)} MB`)

/**
 * Counts bytes of files that come or go, below zero for those that go, of spaces and websites alike. In a workspace of the free plan what
 * comes must fit: throws LIMIT_EXCEEDED. Call it in the transaction that commits the files, behind all that locks them (decisions, Drive).
 */
export async function takeRoom({ db, workspace, config }: Scope, bytes: number): Promise<void> {
  if (bytes === 0) return
  const cap = workspace.plan === 'free' ? config.freePlan.fileBytes : null
  const [taken] = await db.query(changeUsage(workspace.id, bytes, cap))
  if (!taken) throw full(cap ?? 0)
}

/** Throws LIMIT_EXCEEDED where the cap is reached already, so that nobody sends a file in vain. */
export async function requireRoom({ db, workspace, config }: Scope): Promise<void> {
  if (workspace.plan !== 'free') return
  const [usage] = await db.query<{ total_bytes: number }>(findUsage(workspace.id))
  if ((usage?.total_bytes ?? 0) >= config.freePlan.fileBytes) throw full(config.freePlan.fileBytes)
}
