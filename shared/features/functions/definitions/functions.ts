import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { FunctionSummary, FunctionValues, FunctionView } from '#shared/features/functions/definitions/schemas.ts'
import {
  deleteFunction,
  findFunction,
  findFunctions,
  findFunctionWithSource,
  insertFunction,
  updateFunction,
} from '#shared/features/functions/definitions/store.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Functions visible to the caller, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listFunctions = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<FunctionSummary>> =>
  listByCreation(scope, query, {
    find: (afterTime, afterId, limit) => findFunctions({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    isVisible: ({ id }) => permits(scope, 'functions:read', id),
    show: (rows) => rows,
  })

/** A function without its source, cached until a function of the workspace changes. Throws NOT_FOUND. */
export async function requireFunction({ db, cache, workspace }: Scope, id: string): Promise<FunctionSummary> {
  const known = isUuid(id)
    ? await cache.remember(db, workspace.id, `function ${id.toLowerCase()}`, async () => {
        const [found] = await db.query(findFunction({ workspaceId: workspace.id, id }))
        return found
      })
    : undefined
  if (!known) throw problem('NOT_FOUND')
  return known
}

/**
 * An enabled function without its source. Throws NOT_FOUND, and VALIDATION_ERROR when it is disabled
 * (docs/contract/functions.md#invocation).
 */
export async function requireEnabledFunction(scope: Scope, id: string): Promise<FunctionSummary> {
  const known = await requireFunction(scope, id)
  if (!known.enabled) throw functionDisabledProblem()
  return known
}

/** The error of running a disabled function. */
export const functionDisabledProblem = () => problem('VALIDATION_ERROR', 'The function is disabled')

/** A function with its source; throws NOT_FOUND. */
export async function getFunction({ db, workspace }: Scope, id: string): Promise<FunctionView> {
  return requireRow(isUuid(id) ? await db.query(findFunctionWithSource({ workspaceId: workspace.id, id })) : [])
}

/** Creates a function whose source has been checked; the caller becomes its author. */
export async function createFunction({ db, workspace, actor }: Scope, values: FunctionValues): Promise<FunctionView> {
  const {
    name,
    source,
    description = '',
    timeout_ms: timeoutMs = functionLimits.defaultTimeoutMs,
    http_enabled: httpEnabled = false,
  } = values
  const settings = { name, description, source, timeoutMs, httpEnabled }
  return requireRow(await db.query(insertFunction({ ...settings, workspaceId: workspace.id, id: newId(), authorId: actor.id })))
}

/** Changes a function; a new source must have been checked and makes the caller its author. Throws NOT_FOUND. */
export async function changeFunction({ db, workspace, actor }: Scope, id: string, values: FunctionValues): Promise<FunctionView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { name, description, timeout_ms: timeoutMs, enabled, http_enabled: httpEnabled, source } = values
  const changes = { name, description, timeoutMs, enabled, httpEnabled, source }
  const { keptVersions } = functionLimits
  return requireRow(await db.query(updateFunction({ ...changes, workspaceId: workspace.id, id, senderId: actor.id, keptVersions })))
}

/** Deletes a function permanently. Throws NOT_FOUND. */
export async function removeFunction({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteFunction({ workspaceId: workspace.id, id })) : [])
}
