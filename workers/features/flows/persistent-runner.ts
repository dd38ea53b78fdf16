import type { WaitRequest } from '#shared/core/automation/block.ts'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import type { ActiveStep, FlowRunner, RunCheckpoint } from '#shared/features/flows/execution/execute.ts'
import { checkpointStatementFor, type FlowRunRow, isRunSuperseded } from '#shared/features/flows/execution/store.ts'
import { callOutJob, continueRunJob, flowWaitDue } from '#shared/features/flows/jobs.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { flowRunSeconds, flowSteps } from '#shared/features/flows/metrics.ts'
import type { ParkedWait, RunError } from '#shared/features/flows/runs/schemas.ts'
import { runJobOrigin } from '#shared/features/flows/runs/start.ts'
import { runFunctionJob } from '#shared/features/functions/jobs.ts'
import { inAttempts } from '#shared/platform/db/attempts.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import { createContinuation } from '#shared/platform/jobs/operations/continuation.ts'
import { causedBy } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'

/** Thrown when another job has continued or ended the run; the write is rolled back. */
export class RunSuperseded extends Error {}

/** Milliseconds that a run may execute before it yields to other runs. */
const timeSliceMs = 2_000

interface Written extends RunCheckpoint {
  readonly status: 'running' | 'ok' | 'failed'
  readonly waiting?: ParkedWait
  readonly jobId?: string
  readonly error?: RunError
}

export interface PersistentRunner extends FlowRunner {
  /** `tries` counts the starts of the function that the run waits for. */
  readonly park: (step: ActiveStep, waiting: WaitRequest, checkpoint: RunCheckpoint, tries?: number) => Promise<undefined>
}

/** The runner that persists: every effect is committed with its step in one transaction, with the editor's current rights. */
export function createPersistentRunner(
  platform: PlatformScope,
  workspaceId: string,
  run: FlowRunRow,
  signal: AbortSignal,
): PersistentRunner {
  let revision = run.revision
  const began = performance.now()
  const cause = { ...causedBy(platform.cause, 'flow', run.id), requestId: run.id, depth: run.depth, flowRunId: run.id }

  const enterNow = (db: Executor): Promise<Scope> => enterAsPrincipal({ ...platform, db, cause }, workspaceId, run.editorId, run.isPersonal)

  const enter = async (): Promise<Scope> => {
    await platform.cache.refresh()
    return enterNow(platform.db)
  }

  /** Statement that writes a revision; it fails when the run was superseded. */
  const checkpointStatement = ({ steps, state, status, waiting, jobId, error }: Written): Statement => {
    const isOk = status === 'ok'
    const write = checkpointStatementFor({ isOk, keeps: steps.some(({ whole }) => whole !== undefined) })
    const texts = {
      state: isOk ? null : JSON.stringify(state),
      waiting: jsonOf(waiting),
      error: jsonOf(error),
      steps: JSON.stringify(steps),
    }
    return write({ ...texts, workspaceId, id: run.id, revision, status, jobId, now: platform.now() })
  }

  const reportAfterCommit = (db: Executor, { status, steps }: Written): void => {
    db.afterCommit(() => recordMetrics(run, status, steps, platform.now()))
    if (status !== 'running') wakeNumbering({ db, jobQueue: platform.jobQueue, workspace: { id: workspaceId } }, 'soon')
  }

  const write = async (db: Executor, written: Written): Promise<void> => {
    await db.query(checkpointStatement(written))
    reportAfterCommit(db, written)
  }

  const enqueueContinuation = async (tx: Tx): Promise<string> => {
    const jobId = newId()
    await enqueueAll(platform.jobQueue, tx, continueRunJob, [
      { id: jobId, origin: runJobOrigin(workspaceId, run.id, cause.jobId), payload: { workspaceId, runId: run.id } },
    ])
    return jobId
  }

  const park = async (
    tx: Tx,
    scope: Scope,
    step: ActiveStep,
    waiting: WaitRequest,
    written: RunCheckpoint,
    tries: number,
  ): Promise<void> => {
    const since = { started_at: step.startedAt.toISOString(), node_id: step.node.id }
    if (waiting.kind === 'time') {
      await setDue(tx, flowWaitDue, workspaceId, [{ subject: run.id, at: new Date(waiting.until) }])
      return write(tx, { ...written, status: 'running', waiting: { ...since, ...waiting } })
    }
    if (waiting.kind === 'function') {
      const operation = await startFunctionRun(tx, scope, run.id, waiting)
      return write(tx, { ...written, status: 'running', waiting: { ...since, kind: 'function', operation, tries } })
    }
    const jobId = newId()
    const payload = { workspaceId, runId: run.id, revision: revision + 1 }
    await enqueueAll(platform.jobQueue, tx, callOutJob, [{ id: jobId, origin: runJobOrigin(workspaceId, run.id, cause.jobId), payload }])
    return write(tx, { ...written, status: 'running', waiting: { ...since, kind: 'call' }, jobId })
  }

  /** Makes a write, and counts it as one revision. Throws RunSuperseded. */
  const writeCheckpoint = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work()
      revision += 1
      return result
    } catch (error) {
      throw isRunSuperseded(error) ? new RunSuperseded(`Run ${run.id} is no longer at its revision ${revision}`, { cause: error }) : error
    }
  }

  const writeCheckpointInTransaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => writeCheckpoint(() => platform.db.transaction(work))

  return {
    now: platform.now,
    maxSteps: flowLimits.stepsPerRun,
    enter,
    // The transaction's last statement writes the revision and commits, so committing costs no round trip of its own.
    applyStep: async (_step, work, toCheckpoint, isEnd) => {
      const effect = async (db: Executor) => {
        const scope = await enterNow(db)
        const inside = async (tx: Tx) => {
          const inTx = within(scope, tx)
          const output = await work(inTx)
          const written: Written = { ...(await toCheckpoint(output, inTx)), status: isEnd ? 'ok' : 'running' }
          reportAfterCommit(tx, written)
          return { output, written }
        }
        return db.transaction(inside, ({ written }) => checkpointStatement(written))
      }
      const { output } = await writeCheckpoint(() => inAttempts(platform.cache, platform.db, ({ db }) => effect(db)))
      return output
    },
    park: async (step, waiting, written, tries = 1) => {
      const scope = await enter()
      await writeCheckpointInTransaction((tx) => park(tx, scope, step, waiting, written, tries))
      return undefined
    },
    saveCheckpoint: (written, isEnd) => writeCheckpoint(() => write(platform.db, { ...written, status: isEnd ? 'ok' : 'running' })),
    fail: (written, error) => writeCheckpoint(() => write(platform.db, { ...written, status: 'failed', error })),
    isTimeSliceOver: () => signal.aborted || performance.now() - began > timeSliceMs,
    reschedule: (written) =>
      writeCheckpointInTransaction(async (tx) => write(tx, { ...written, status: 'running', jobId: await enqueueContinuation(tx) })),
  }
}

/** Updates the metrics for the written steps, and for the run if it ended. */
function recordMetrics({ createdAt }: FlowRunRow, status: Written['status'], steps: Written['steps'], now: Date): void {
  for (const step of steps) flowSteps.inc({ type: step.node_type, status: step.status })
  if (status !== 'running') flowRunSeconds.observe({ status }, Math.max(0, now.getTime() - Date.parse(createdAt)) / 1_000)
}

/**
 * Starts a function for a run, with the rights that both the function's author and the run's editor have. Returns the id of the function's
 * operation.
 */
function startFunctionRun(
  tx: Tx,
  scope: Pick<Scope, 'jobQueue' | 'cause' | 'workspace'>,
  runId: string,
  { functionId, input }: Pick<Extract<WaitRequest, { kind: 'function' }>, 'functionId' | 'input'>,
): Promise<string> {
  const workspaceId = scope.workspace.id
  const continuation = createContinuation(continueRunJob, runJobOrigin(workspaceId, runId, scope.cause.jobId), { workspaceId, runId })
  const payload = { functionId, input, rights: 'lesser' as const }
  return scope.jobQueue.enqueue(tx, runFunctionJob, { workspaceId, cause: scope.cause }, payload, { continuation })
}

const jsonOf = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
