import type { Scope } from '#shared/core/scope/scope.ts'
import { getFlow } from '#shared/features/flows/definitions/flows.ts'
import type { StartedRun } from '#shared/features/flows/definitions/schemas.ts'
import { continueRunJob } from '#shared/features/flows/jobs.ts'
import type { FlowRunView, RunError, TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { insertRuns } from '#shared/features/flows/runs/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { type Cause, maxCauseDepth } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A run that something sets off. */
export interface NewRun {
  readonly flow: { readonly id: string; readonly name: string; readonly version: number; readonly editor_id: string }
  readonly trigger: FlowRunView['trigger']
  readonly input: TriggerInput
  /** Who may see the input. */
  readonly triggerVisibility?: TriggerVisibility | undefined
  /** What set it off, named so that the same again makes no second run of the flow. */
  readonly key: string
  /** How many flows have set each other off, this one included. */
  readonly depth: number
  /** Whether it reaches what is personal of its editor: the editor's own manual and scheduled runs, and those of its own calendar's events. */
  readonly isPersonal: boolean
  /** The request that set it off. */
  readonly requestId: string
  /** What ends it at once as failed. */
  readonly error?: RunError | undefined
}

interface Starter {
  readonly db: Tx
  readonly jobQueue: JobQueue
  readonly now: () => Date
}

/** Where jobs of runs come from: the platform, which enters as the last editor at every step. */
export const runJobOrigin = (workspaceId: string, runId: string) => ({
  workspaceId,
  cause: { actorId: null, actorType: 'system', requestId: runId, depth: 0 } as const satisfies Cause,
})

/** What a run in a chain that is taken for a loop ends with (decisions, Flows). */
export const maxDepthError: RunError = Object.freeze({
  code: 'VALIDATION_ERROR',
  message: `flows set each other off ${maxCauseDepth} deep: this is taken for a loop`,
  node_id: null,
})

/**
 * Makes runs of a workspace in one statement, and the jobs that begin them in another; those that are there already are left as they are.
 * Returns the ids of the new ones. A run that is too deep in a chain of flows is made as failed.
 */
export async function startRuns({ db, jobQueue, now }: Starter, workspaceId: string, runs: readonly NewRun[]): Promise<Set<string>> {
  if (runs.length === 0) return new Set()
  const rows = runs.map(rowOf)
  const made = await db.query<{ id: string }>(insertRuns(workspaceId, JSON.stringify(rows), now()))
  const ids = new Set(made.map(({ id }) => id))
  const begin = rows.filter(({ id, status }) => ids.has(id) && status === 'queued')
  const filings = begin.map(({ id, job_id }) => ({
    id: job_id,
    origin: runJobOrigin(workspaceId, id),
    payload: { workspaceId, runId: id },
  }))
  if (filings.length > 0) await enqueueAll(jobQueue, db, continueRunJob, filings)
  return ids
}

function rowOf({
  flow,
  trigger,
  input,
  triggerVisibility,
  key,
  depth,
  isPersonal,
  requestId,
  error = depth > maxCauseDepth ? maxDepthError : undefined,
}: NewRun) {
  return {
    id: newId(),
    flow_id: flow.id,
    flow_name: flow.name,
    version: flow.version,
    editor_id: flow.editor_id,
    status: error ? 'failed' : 'queued',
    trigger,
    input,
    guard: triggerVisibility ?? null,
    trigger_key: key,
    depth,
    is_personal: isPersonal,
    job_id: newId(),
    request_id: requestId,
    error: error ?? null,
  }
}

/** What starts a flow by hand, and what it is named by: the same again gives the first run. */
export interface ManualStart {
  readonly input: unknown
  readonly deduplicationKey: string
  /** The item of a work queue that came into a stage; absent where somebody started the flow. */
  readonly item?: { readonly queue_id: string; readonly item_id: string }
}

/**
 * Starts a flow by hand, also one that is not enabled: the route and the SDK. One with problems makes a run that is failed with the first of
 * them. Throws NOT_FOUND.
 */
export async function runFlow(scope: Scope, flowId: string, input: unknown): Promise<StartedRun> {
  const [run_id = ''] = await runFlowForEach(scope, flowId, [{ input, deduplicationKey: newId() }])
  return { queued: true, run_id }
}

/** The same once for each of many, such as the items that came into a stage of a work queue, in as many statements; gives the ids of new runs. */
export async function runFlowForEach(scope: Scope, flowId: string, some: readonly ManualStart[]): Promise<string[]> {
  const { problems, ...flow } = await getFlow(scope, flowId)
  const [first] = problems
  const runs = some.map(
    ({ input, deduplicationKey, item }): NewRun => ({
      flow,
      trigger: { kind: 'manual', event: null, object_type: null, record_id: null },
      input: { input: input ?? null },
      triggerVisibility: item ?? { starter_id: scope.actor.id },
      key: `manual ${deduplicationKey}`,
      depth: scope.cause.depth + 1,
      isPersonal: scope.actor.personId === flow.editor_id,
      requestId: scope.cause.requestId,
      error: first && { code: 'VALIDATION_ERROR', ...first },
    }),
  )
  return scope.db.transaction(async (tx) => [...(await startRuns({ ...scope, db: tx }, scope.workspace.id, runs))])
}
