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
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Functions visible to the caller, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listFunctions = (scope: Scope, query: LinkedQuery = {}): Promise<LinkedPage<FunctionSummary>> =>
  listByCreation<FunctionSummary, FunctionSummary>(scope.db, query, {
    list: `functions ${scope.workspace.id}`,
    find: (...page) => findFunctions(scope.workspace.id, ...page),
    isVisible: ({ id }) => permits(scope, 'functions:read', id),
    show: (rows) => rows,
  })

/** A function without its source, cached until a function of the workspace changes. Throws NOT_FOUND. */
export async function requireFunction({ db, cache, workspace }: Scope, id: string): Promise<FunctionSummary> {
  const known = isUuid(id)
    ? await cache.remember(db, workspace.id, `function ${id.toLowerCase()}`, async () => {
        const [found] = await db.query<FunctionSummary>(findFunction(workspace.id, id))
        return found
      })
    : undefined
  return found([known])
}

/** An enabled function without its source. Throws NOT_FOUND, and VALIDATION_ERROR when it is disabled (document 2, Functions, rule 3). */
export async function requireEnabledFunction(scope: Scope, id: string): Promise<FunctionSummary> {
  const known = await requireFunction(scope, id)
  if (!known.enabled) throw functionDisabledProblem()
  return known
}

/** The error of running a disabled function. */
export const functionDisabledProblem = () => problem('VALIDATION_ERROR', 'The function is disabled')

/** A function with its source; throws NOT_FOUND. */
export async function getFunction({ db, workspace }: Scope, id: string): Promise<FunctionView> {
  return found(isUuid(id) ? await db.query<FunctionView>(findFunctionWithSource(workspace.id, id)) : [])
}

/** Creates a function whose source has been checked; the caller becomes its author. */
export async function createFunction({ db, workspace, actor }: Scope, values: FunctionValues): Promise<FunctionView> {
  const { name, source, description = '', timeout_ms = functionLimits.defaultTimeoutMs, http_enabled = false } = values
  return found(
    await db.query<FunctionView>(insertFunction(workspace.id, newId(), name, description, source, timeout_ms, http_enabled, actor.id)),
  )
}

/** Changes a function; a new source must have been checked and makes the caller its author. Throws NOT_FOUND. */
export async function changeFunction({ db, workspace, actor }: Scope, id: string, values: FunctionValues): Promise<FunctionView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { name, description, timeout_ms, enabled, http_enabled, source } = values
  const changes = [name, description, timeout_ms, enabled, http_enabled, source]
  return found(await db.query<FunctionView>(updateFunction(workspace.id, id, ...changes, actor.id, functionLimits.keptVersions)))
}

/** Deletes a function permanently. Throws NOT_FOUND. */
export async function removeFunction({ db, workspace }: Scope, id: string): Promise<void> {
  found(isUuid(id) ? await db.query(deleteFunction(workspace.id, id)) : [])
}

function found<Row>([row]: readonly (Row | undefined)[]): Row {
  if (!row) throw problem('NOT_FOUND')
  return row
}
