import type { Scope } from '#shared/core/scope/scope.ts'
import { getFlow } from '#shared/features/flows/definitions/flows.ts'
import type { StartedRun } from '#shared/features/flows/definitions/schemas.ts'
import { continueRunJob } from '#shared/features/flows/jobs.ts'
import type { FlowRunView, RunError, TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { insertRuns } from '#shared/features/flows/runs/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { tooManyFiled } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { type Cause, causedBy, maxCauseDepth, platformCause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Input of a new run. */
export interface NewRun {
  readonly flow: { readonly id: string; readonly name: string; readonly version: number; readonly editor_id: string }
  readonly trigger: FlowRunView['trigger']
  readonly input: TriggerInput
  /** Who may see the input. */
  readonly triggerVisibility?: TriggerVisibility | undefined
  /** Deduplication key: a second run of the flow with the same key is not created. */
  readonly key: string
  /** Length of the chain of flows that started each other, the new run included. */
  readonly depth: number
  /**
   * Whether the run may use the editor's personal data: true for manual starts by the editor, for schedules, and for events of the editor's
   * own calendars.
   */
  readonly isPersonal: boolean
  /** Id of the request that caused the run. */
  readonly requestId: string
  /** Whether a caller's own request starts the run, so that it counts among the workspace's waiting jobs. */
  readonly isFiled?: boolean
  /** Error that ends the run as failed as soon as it is created. */
  readonly error?: RunError | undefined
}

interface StartServices {
  readonly db: Tx
  readonly jobQueue: JobQueue
  readonly now: () => Date
  readonly cause: Cause
}

/**
 * Origin of the jobs of runs: the platform. Each step then enters the workspace as the run's editor. `jobId` is the tracked job that caused the
 * run, where it is known.
 */
export const runJobOrigin = (workspaceId: string, runId: string, jobId?: string) => ({
  workspaceId,
  cause: { ...causedBy(platformCause(runId), 'flow', runId), ...(jobId !== undefined && { jobId }) },
})

/** Error of a run beyond the maximum cause depth (docs/contract/flows.md#chains). */
export const maxDepthError: RunError = Object.freeze({
  code: 'VALIDATION_ERROR',
  message: `flows set each other off ${maxCauseDepth} deep: this is taken for a loop`,
  node_id: null,
})

/**
 * Creates runs of a workspace in one statement, and their jobs in another. A run whose deduplication key exists is not created again.
 * Returns the ids of the new runs. A run beyond the maximum cause depth is created as failed.
 */
export async function startRuns(
  { db, jobQueue, now, cause }: StartServices,
  workspaceId: string,
  runs: readonly NewRun[],
): Promise<Set<string>> {
  if (runs.length === 0) return new Set()
  const rows = runs.map(rowOf)
  const made = await db.query(insertRuns({ workspaceId, runs: JSON.stringify(rows), now: now() }))
  const ids = new Set(made.map(({ id }) => id))
  const queued = rows.filter(({ id, status }) => ids.has(id) && status === 'queued')
  const jobs = queued.map(({ id, job_id }) => ({
    id: job_id,
    origin: runJobOrigin(workspaceId, id, cause.jobId),
    payload: { workspaceId, runId: id },
  }))
  if (jobs.length > 0) await enqueueAll(jobQueue, db, continueRunJob, jobs)
  if (queued.length < ids.size) wakeNumbering({ db, jobQueue, workspace: { id: workspaceId } }, 'soon')
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
  isFiled = false,
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
    trigger_visibility: triggerVisibility ?? null,
    trigger_key: key,
    depth,
    is_personal: isPersonal,
    job_id: newId(),
    request_id: requestId,
    is_filed: isFiled,
    error: error ?? null,
  }
}

/** One manual start; a second start with the same deduplication key creates no run. */
export interface ManualStart {
  readonly input: unknown
  readonly deduplicationKey: string
  readonly isFiled?: boolean
  /** The queue item that entered a stage; absent when a caller started the flow. */
  readonly item?: { readonly queue_id: string; readonly item_id: string }
}

/**
 * Starts a flow manually, also a disabled one; used by the route, whose caller files the run, and the SDK. The run of a flow with problems
 * fails at once with the first problem. Throws NOT_FOUND, and RATE_LIMITED while too many filed runs wait.
 */
export async function runFlow(scope: Scope, flowId: string, input: unknown, isFiled = false): Promise<StartedRun> {
  const [run_id] = await runFlowForEach(scope, flowId, [{ input, deduplicationKey: newId(), isFiled }])
  if (run_id === undefined) throw await tooManyFiled(scope.db, 'flow runs', continueRunJob.name)
  return { queued: true, run_id }
}

/**
 * Starts a flow like `runFlow`, once for each start, such as a queue item that entered a stage; the number of statements does not grow with
 * the starts. Returns the ids of the new runs.
 */
export async function runFlowForEach(scope: Scope, flowId: string, starts: readonly ManualStart[]): Promise<string[]> {
  const { problems, ...flow } = await getFlow(scope, flowId)
  const [first] = problems
  const runs = starts.map(
    ({ input, deduplicationKey, item, isFiled = false }): NewRun => ({
      isFiled,
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
