import type { JobWithMetadata } from 'pg-boss'
import { type PlatformScope, type Services, within } from '#shared/core/scope/scope.ts'
import type { EnteredWorkspace, Workspace } from '#shared/core/scope/store.ts'
import { loadWorkspace } from '#shared/core/scope/workspace.ts'
import { inAttempts } from '#shared/platform/db/attempts.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { isOverloaded } from '#shared/platform/db/database-errors.ts'
import type { Tracked } from '#shared/platform/db/track-writes.ts'
import { deferJob } from '#shared/platform/due/defer-job.ts'
import { judgeFailure } from '#shared/platform/jobs/failed-attempt.ts'
import type { AnyJob, JobEnvelope } from '#shared/platform/jobs/job.ts'
import { messageOf, recordAttemptEnd, thisWorker } from '#shared/platform/jobs/operations/attempts.ts'
import { createResumption } from '#shared/platform/jobs/operations/continuation.ts'
import {
  advanceOperation,
  completeOperation,
  parkOperation,
  revertOperationStart,
  startOperation,
} from '#shared/platform/jobs/operations/operations.ts'
import { mayWaitForPart } from '#shared/platform/jobs/pgboss/part-waits.ts'
import { dispositionOf, isSuspensionError, requireNotHalted, waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { type Cause, causedBy, completeCause } from '#shared/platform/kernel/cause.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { enterAsCaller } from '#workers/core/workspaces/enter-workspace.ts'
import {
  type AnyHandler,
  type Attempt,
  AttemptCancelled,
  completed,
  type JobResult,
  type StartJob,
} from '#workers/platform/jobs/handler.ts'

export type WorkerServices = Services & { readonly db: Executor }
/** Job columns that an attempt reads. */
type JobRow = Pick<JobWithMetadata<JobEnvelope>, 'id' | 'data' | 'retryCount' | 'retryLimit'> &
  Partial<Pick<JobWithMetadata<JobEnvelope>, 'output' | 'startedOn'>>

/** Thrown when another attempt has completed or continued the operation: this attempt's writes are rolled back. */
class TakenOver extends Error {}

/**
 * Runs one attempt: enter the workspace, run, complete. A job that must wait for its workspace or app (shared/platform/kernel/background.ts)
 * leaves its queue and is deferred: the result is `deferred`. `judgeFailure` decides about any other failure: one that is the caller's answer
 * fails the operation; every other is rethrown, so that the queue retries the job, keeps a dead letter or makes it wait for a part.
 */
export async function runAttempt(
  handler: AnyHandler,
  row: JobRow,
  signal: AbortSignal,
  platformServices: WorkerServices,
): Promise<'ended' | 'deferred'> {
  const { job } = handler
  await platformServices.cache.refresh()
  const workspace = await workspaceOf(platformServices, row)
  const services = workspace
    ? { ...platformServices, db: platformServices.db.forWorkspace(workspace.id, workspace.share_id) }
    : platformServices
  if (workspace && dispositionOf(job, workspace) === 'waits') return defer(handler, row, workspace, services)
  const started = job.tracked ? await startOperation(services.db, operationOf(row), thisWorker) : untracked
  if (!started) {
    // Another process completed the operation and released its slot, but may have died before it admitted the next job at the gate.
    if (job.gate) await services.jobQueue.admitNext(job.gate, row.data.workspaceId)
    return 'ended'
  }
  const reached = { checkpoint: started.checkpoint ?? undefined }
  const work = { handler, row, signal, services }
  let isRunning = false
  try {
    if (workspace) requireNotHalted(job, workspace)
    const run = async (tracked: Tracked): Promise<void> => {
      const platform: PlatformScope = { ...services, db: tracked.db, principal: null, cause: causeOf(job, row) }
      const scope = handler.inWorkspace ? await enterAsCaller(platform, row.data.workspaceId ?? '', job.work) : platform
      isRunning = true
      const done = await handler.run(attemptIn(scope, { ...work, reached, tracked, begun: started.begun }) as never)
      if (done !== completed) await complete(work, tracked.db, done)
    }
    await inAttempts(services.cache, services.db, run, { isFresh: true, ...(job.once && { atMost: 1 }) })
  } catch (error) {
    if (error instanceof TakenOver || signal.reason instanceof AttemptCancelled) return 'ended'
    const isHalted = isSuspensionError(error) && waitsForWorkspace(job.work)
    if (isHalted && workspace) {
      await noteAttemptEnd(work, error)
      return defer(handler, row, workspace, services)
    }
    const { outcome } = judgeFailure(row, error)
    const isReverted = outcome !== 'dead' && !isRunning && !started.begun && isOverloaded(error)
    if (job.tracked && isReverted) await revertOperationStart(services.db, operationOf(row), messageOf(error))
    else if (outcome === 'retried' || (outcome === 'waits' && job.once)) await noteAttemptEnd(work, error)
    if (job.tracked && (outcome === 'answered' || outcome === 'dead')) {
      const shown = error instanceof Problem ? error : problem('INTERNAL')
      const failure = { status: 'failed', error: shown.toJSON(), attemptError: messageOf(error) } as const
      const ended = await completeOperation(services.db, operationOf(row), failure)
      services.db.afterCommit(() => services.jobQueue.signals.signalFailure(operationOf(row), ended?.continues ?? null))
    }
    if (outcome !== 'answered') throw error
  } finally {
    if (job.gate) await services.jobQueue.admitNext(job.gate, row.data.workspaceId)
  }
  return 'ended'
}

async function workspaceOf({ cache, db }: WorkerServices, { data: { workspaceId } }: JobRow): Promise<EnteredWorkspace | undefined> {
  return workspaceId === null ? undefined : loadWorkspace(cache, db, workspaceId)
}

/** Defers the job, unless another attempt has taken it. */
async function defer({ job }: AnyHandler, row: JobRow, workspace: Workspace, { db, jobQueue, now }: WorkerServices): Promise<'deferred'> {
  await deferJob(db, workspace.id, job, { name: job.name, id: row.id, retryCount: row.retryCount }, now())
  if (job.gate) await jobQueue.admitNext(job.gate, workspace.id)
  return 'deferred'
}

/** The cause of what the attempt does: a tracked job is the one that causes it; any other passes on the one that caused it. */
function causeOf({ tracked, causes }: AnyJob, row: JobRow): Cause {
  const cause = completeCause(row.data.cause)
  if (!tracked) return cause
  const jobId = operationOf(row)
  return { ...(causes === undefined ? cause : causedBy(cause, causes, jobId)), jobId }
}

/** Records how an attempt ended that does not complete its operation. A failure to do so changes nothing else. */
async function noteAttemptEnd({ handler, row, services }: Work, error: unknown): Promise<void> {
  if (handler.job.tracked) await recordAttemptEnd(services.db, operationOf(row), thisWorker, error).catch(() => undefined)
}

/** The id of a job's operation: its own id, unless it resumes a parked operation. */
const operationOf = ({ id, data }: JobRow): string => data.operationId ?? id

const untracked = { checkpoint: undefined, begun: false }

/** The parts of one attempt that do not depend on its scope. */
interface Work {
  readonly handler: AnyHandler
  readonly row: JobRow
  readonly signal: AbortSignal
  readonly services: WorkerServices
}

/** One attempt while its handler runs. `reached` holds the last checkpoint, from which a retry continues. */
interface RunningWork extends Work {
  readonly reached: { checkpoint: unknown }
  readonly tracked: Tracked
  readonly begun: boolean
}

function attemptIn<S extends PlatformScope>(scope: S, work: RunningWork): Attempt<unknown, unknown, S> {
  const { handler, row, signal, reached, tracked, begun } = work
  return {
    payload: handler.job.payload.parse(row.data.payload, 'payload'),
    scope,
    jobId: operationOf(row),
    signal,
    begun,
    mayWait: mayWaitForPart(row),
    checkpoint: reached.checkpoint,
    advance: async (progress, next, inside = scope) => {
      if (!handler.job.tracked) return
      if (!(await advanceOperation(inside.db, operationOf(row), progress, reached.checkpoint, next))) throw new TakenOver()
      inside.db.afterCommit(() => {
        if (next === undefined) return
        reached.checkpoint = next
        tracked.noteProgress()
      })
    },
    commit: async (write) => {
      await scope.db.transaction(async (tx) => complete(work, tx, await write(within(scope, tx))))
      return completed
    },
    park: async (write) => {
      await scope.db.transaction(async (tx) => park(work, tx, reached.checkpoint, (start) => write(within(scope, tx), start)))
      return completed
    },
  }
}

async function park(
  { handler: { job }, row, services }: Work,
  tx: Tx,
  known: unknown,
  write: (start: StartJob) => Promise<unknown>,
): Promise<void> {
  if (!job.tracked || job.gate) throw new Error(`${job.name} cannot be parked`)
  const operation = operationOf(row)
  let awaits = 0
  const checkpoint = await write((other, origin, payload) => {
    if (!other.tracked) throw new Error(`${other.name} is not tracked, so nothing can wait for it`)
    awaits += 1
    return services.jobQueue.enqueue(tx, other, origin, payload, { continuation: createResumption(job, operation, row.data) })
  })
  if (awaits === 0) throw new Error(`${job.name} is parked and waits for nothing`)
  if (!(await parkOperation(tx, operation, awaits, known, checkpoint))) throw new TakenOver()
}

async function complete(work: Work, db: Executor, { result, fileId }: JobResult<unknown>): Promise<void> {
  if (!work.handler.job.tracked) return
  const ended = await completeOperation(db, operationOf(work.row), { status: 'done', result, fileId })
  if (!ended) throw new TakenOver()
  signalCompletion(work, db, ended.continues)
}

/** Signals the completion to waiting callers and to the continuation's queue, after the commit. */
const signalCompletion = ({ row, services }: Work, db: Executor, continues: string | null): void =>
  db.afterCommit(() => services.jobQueue.signals.signalCompletion(operationOf(row), continues))
