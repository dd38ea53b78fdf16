import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { countOwned, lockOwner, updateShares, updateSharesApart } from '#shared/core/workspaces/owners-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Throws VALIDATION_ERROR when a person owns as many workspaces as one may, and RATE_LIMITED when it has made as many in the last hour as
 * one may (docs/contract/limits.md#people-and-workspaces). Locks the person until the transaction of `scope` ends, so concurrent callers
 * together stay within.
 */
export async function requireWorkspaceQuota({ db, config }: Pick<PlatformScope, 'db' | 'config'>, ownerId: string): Promise<void> {
  const { perPerson, perHour } = config.workspaceLimit
  await db.query(lockOwner({ id: ownerId }))
  const [counted] = await db.query(countOwned({ ownerId, perHour }))
  if (!counted) return
  const { owned, recent, waitSeconds } = counted
  if (owned >= perPerson) {
    throw problem('VALIDATION_ERROR', `A person may own ${perPerson} workspaces at most, and you own ${owned}; use one of them for this`)
  }
  if (recent >= perHour) {
    const headers = { 'Retry-After': String(Math.max(1, waitSeconds)) }
    throw problem('RATE_LIMITED', `A person may make ${perHour} workspaces an hour at most`, { headers })
  }
}

/**
 * Decides whether the workspaces of a person count one by one or together where workspaces share slots and connections. Returns their number.
 */
export function setSharesApart({ db }: Pick<PlatformScope, 'db'>, ownerId: string, apart: boolean): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query(updateSharesApart({ ownerId, apart }))
    return (await tx.query(updateShares({ ownerId, apart }))).length
  })
}
