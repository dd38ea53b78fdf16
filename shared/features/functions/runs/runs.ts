import type { Invocation } from '#shared/core/automation/schemas.ts'
import { permits } from '#shared/core/scope/access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import type { FunctionRunPage, FunctionRunQuery, FunctionRunView } from '#shared/features/functions/runs/schemas.ts'
import { type FunctionRunRow, findRun, findRuns, insertRun } from '#shared/features/functions/runs/store.ts'
import { listById } from '#shared/platform/db/lists.ts'
import { announceHappening } from '#shared/platform/events/announce.ts'
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

/** Records a run for the scope's caller, and a failure in the list of events. Idempotent by run id. */
export async function saveFunctionRun(scope: Scope, run: EndedFunctionRun): Promise<void> {
  const { workspace, actor, cause } = scope
  const caller = { actorId: actor.id, actorType: actor.type, requestId: cause.requestId }
  const [logs, steps] = [JSON.stringify(run.logs), JSON.stringify(run.steps)]
  const { id, functionId, version, ending } = run
  await scope.db.transaction(async (tx) => {
    const [saved] = await tx.query(insertRun({ ...run, ...caller, workspaceId: workspace.id, logs, steps }))
    if (!saved || ending === 'returned') return
    await announceHappening(within(scope, tx), {
      type: 'functions.failed',
      subject: { function: functionId, id },
      data: { version, ending },
    })
  })
}

/** A function's runs, newest first. Throws VALIDATION_ERROR for a cursor of another list. */
export async function listFunctionRuns(scope: Scope, functionId: string, query: FunctionRunQuery): Promise<FunctionRunPage> {
  const { page, next } = await listById(scope, query, (beforeId, limit) =>
    findRuns({ workspaceId: scope.workspace.id, functionId, beforeId, limit }),
  )
  const runs = page.map(({ error, ...run }) => ({ ...run, ...(error !== null && maySeeOutput(scope, run) ? { error } : {}) }))
  return { runs, next_cursor: next }
}

/** One run with its steps, and with its output when the caller may see it. Throws NOT_FOUND. */
export async function getFunctionRun(scope: Scope, functionId: string, id: string): Promise<FunctionRunView> {
  const [row] = isUuid(id) ? await scope.db.query(findRun({ workspaceId: scope.workspace.id, functionId, id })) : []
  if (!row) throw problem('NOT_FOUND')
  const { error, logs, ...run } = row
  if (!maySeeOutput(scope, run)) return run
  return { ...run, logs, ...(error === null ? {} : { error }) }
}

/** A run's output may hold data that only its caller may read; functions:create on the function also permits reading it. */
const maySeeOutput = (scope: Scope, run: Pick<FunctionRunRow, 'actor_id' | 'function_id'>): boolean =>
  (scope.actor.id !== null && run.actor_id === scope.actor.id) || permits(scope, 'functions:create', run.function_id)
