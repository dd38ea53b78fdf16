import type { Scope } from '#shared/core/scope/scope.ts'
import { changeFunction } from '#shared/features/functions/definitions/functions.ts'
import type { FunctionVersionSummary, FunctionVersionView, FunctionView } from '#shared/features/functions/definitions/schemas.ts'
import { findVersion, findVersions } from '#shared/features/functions/definitions/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The kept versions of a function, newest first. */
export const listVersions = ({ db, workspace }: Scope, functionId: string): Promise<FunctionVersionSummary[]> =>
  db.query(findVersions({ workspaceId: workspace.id, functionId }))

/** One version with its source; throws NOT_FOUND. */
export async function getVersion({ db, workspace }: Scope, functionId: string, version: string): Promise<FunctionVersionView> {
  const isVersion = /^[1-9]\d{0,8}$/.test(version)
  const [found] = isVersion ? await db.query(findVersion({ workspaceId: workspace.id, functionId, version: Number(version) })) : []
  if (!found) throw problem('NOT_FOUND')
  return found
}

/** Restores an earlier source as a new version whose author is the caller. Throws NOT_FOUND. */
export async function restoreVersion(scope: Scope, functionId: string, version: string): Promise<FunctionView> {
  const { source } = await getVersion(scope, functionId, version)
  return changeFunction(scope, functionId, { source })
}
