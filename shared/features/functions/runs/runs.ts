import type { Invocation } from '#shared/core/automation/schemas.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { FunctionRunPage, FunctionRunQuery, FunctionRunSummary, FunctionRunView } from '#shared/features/functions/runs/schemas.ts'
import { findRun, findRuns, insertRun } from '#shared/features/functions/runs/store.ts'
import { readPage } from '#shared/platform/db/lists.ts'
import { makeCursor, readCursorId } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** An ended run to be recorded. */
export interface EndedFunctionRun {
  readonly id: string
  readonly functionId: string
  readonly version: number
  readonly parentId: string | null
  readonly ending: FunctionRunView['ending']
  readonly error: string | null
  readonly logs: Invocation['logs']
  readonly steps: Invocation['steps']
  readonly resultBytes: number
  readonly durationMs: number
}

/** Records a run for the scope's caller. Idempotent by run id. */
export async function saveFunctionRun({ db, workspace, actor, cause }: Scope, run: EndedFunctionRun): Promise<void> {
  const actorColumns = [actor.id, actor.type, cause.requestId]
  const jsonTexts = [JSON.stringify(run.logs), JSON.stringify(run.steps)]
  const { id, functionId, version, parentId, ending, error, resultBytes, durationMs } = run
  await db.query(
    insertRun(workspace.id, id, functionId, version, parentId, ...actorColumns, ending, error, ...jsonTexts, resultBytes, durationMs),
  )
}

type RunRow = Omit<FunctionRunSummary, 'error'> & { readonly error: string | null }

/** A function's runs, newest first. Throws VALIDATION_ERROR for a cursor of another list. */
export async function listFunctionRuns(scope: Scope, functionId: string, query: FunctionRunQuery): Promise<FunctionRunPage> {
  const list = `runs ${functionId}`
  const after = readCursorId(list, query.cursor)
  const { page, hasMore } = await readPage<RunRow>(scope.db, findRuns(scope.workspace.id, functionId, after, query.limit + 1), query.limit)
  const last = page.at(-1)
  const runs = page.map(({ error, ...run }) => ({ ...run, ...(error !== null && maySeeOutput(scope, run) ? { error } : {}) }))
  return { runs, next_cursor: hasMore && last ? makeCursor(list, last.id) : null }
}

/** One run with its steps, and with its output when the caller may see it. Throws NOT_FOUND. */
export async function getFunctionRun(scope: Scope, functionId: string, id: string): Promise<FunctionRunView> {
  const find = findRun(scope.workspace.id, functionId, id)
  const [row] = isUuid(id) ? await scope.db.query<RunRow & Required<Pick<FunctionRunView, 'logs' | 'steps'>>>(find) : []
  if (!row) throw problem('NOT_FOUND')
  const { error, logs, ...run } = row
  if (!maySeeOutput(scope, run)) return run
  return { ...run, logs, ...(error === null ? {} : { error }) }
}

/** A run's output may hold data that only its caller may read; functions:create on the function also permits reading it. */
const maySeeOutput = (scope: Scope, run: Pick<RunRow, 'actor_id' | 'function_id'>): boolean =>
  (scope.actor.id !== null && run.actor_id === scope.actor.id) || permits(scope, 'functions:create', run.function_id)
