import type { JobWithMetadata } from 'pg-boss'
import { type PlatformScope, type Services, within } from '#shared/core/scope/scope.ts'
import { findWorkspace, type Workspace } from '#shared/core/scope/workspace.ts'
import { inAttempts } from '#shared/platform/db/attempts.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { isOverloaded } from '#shared/platform/db/database-errors.ts'
import type { Tracked } from '#shared/platform/db/track-writes.ts'
import { deferJob } from '#shared/platform/due/defer-job.ts'
import type { JobEnvelope } from '#shared/platform/jobs/job.ts'
import { createResumption } from '#shared/platform/jobs/operations/continuation.ts'
import {
  advanceOperation,
  completeOperation,
  parkOperation,
  revertOperationStart,
  startOperation,
} from '#shared/platform/jobs/operations/operations.ts'
import { dispositionOf, isSuspensionError, requireNotHalted, waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { enterAsCaller } from '#workers/core/workspaces/enter-workspace.ts'
import { type AnyHandler, type Attempt, completed, type JobResult, type StartJob } from '#workers/platform/jobs/handler.ts'
import type { Resources } from '#workers/resources.ts'

export type WorkerServices = Services & { readonly db: Executor; readonly resources: Resources }
/** What of a job's row an attempt goes by. */
type JobRow = Pick<JobWithMetadata<JobEnvelope>, 'id' | 'data' | 'retryCount' | 'retryLimit'>

/** Somebody else settled the operation meanwhile, or has gone on with it; what this attempt wrote must not stand. */
class TakenOver extends Error {}

/**
 * Runs one attempt: enter the workspace, run, settle. What has to wait for its workspace or its app (shared/platform/kernel/background.ts) is taken
 * from its queue and `rests`. A failure below 500 is the caller's, and one that is expected all is well on our side: it settles at once and is not tried again.
 * Any other, OVERLOADED among them, settles at the last attempt and is thrown on, so that the queue retries it or keeps it as a dead letter.
 */
export async function runAttempt(
  handler: AnyHandler,
  row: JobRow,
  signal: AbortSignal,
  { db, ...others }: WorkerServices,
): Promise<'ended' | 'rests'> {
  const { job } = handler
  const services = { ...others, db: row.data.workspaceId === null ? db : db.forWorkspace(row.data.workspaceId) }
  await services.cache.refresh()
  const workspace = await workspaceOf(services, row)
  if (workspace && dispositionOf(job, workspace) === 'waits') return rest(handler, row, workspace, services)
  const started = job.tracked ? await startOperation(services.db, operationOf(row)) : untracked
  if (!started) {
    // Whoever settled it freed its slot and let nobody in.
    if (job.gate) await services.jobQueue.admitNext(job.gate, row.data.workspaceId)
    return 'ended'
  }
  const reached = { checkpoint: started.checkpoint ?? undefined }
  const work = { handler, row, signal, services }
  let isRunning = false
  try {
    if (workspace) requireNotHalted(job, workspace)
    const { resources: _, ...shared } = services
    const run = async (tracked: Tracked): Promise<void> => {
      const platform: PlatformScope = { ...shared, db: tracked.db, principal: null, cause: row.data.cause }
      const scope = handler.inWorkspace ? await enterAsCaller(platform, row.data.workspaceId ?? '', job.work) : platform
      isRunning = true
      const done = await handler.run(attemptIn(scope, { ...work, reached, tracked, begun: started.begun }) as never)
      if (done !== completed) await settle(work, tracked.db, done)
    }
    await inAttempts(services.cache, services.db, run, { isFresh: true, ...(job.once && { atMost: 1 }) })
  } catch (error) {
    if (error instanceof TakenOver) return 'ended'
    const isHalted = isSuspensionError(error) && waitsForWorkspace(job.work)
    if (isHalted && workspace) return rest(handler, row, workspace, services)
    const isLast = row.retryCount >= row.retryLimit
    const callersMistake = error instanceof Problem && !isOverloaded(error) && (error.status < 500 || error.expected)
    if (job.tracked && !isLast && !isRunning && !started.begun && isOverloaded(error))
      await revertOperationStart(services.db, operationOf(row))
    if (job.tracked && (callersMistake || isLast)) {
      const shown = error instanceof Problem ? error : problem('INTERNAL')
      const ended = await completeOperation(services.db, operationOf(row), { status: 'failed', error: shown.toJSON() })
      announce(work, services.db, ended?.continues ?? null)
    }
    if (!callersMistake) throw error
  } finally {
    if (job.gate) await services.jobQueue.admitNext(job.gate, row.data.workspaceId)
  }
  return 'ended'
}

async function workspaceOf({ cache, db }: WorkerServices, { data: { workspaceId } }: JobRow): Promise<Workspace | undefined> {
  return workspaceId === null ? undefined : cache.remember(db, workspaceId, 'workspace', () => findWorkspace(db, workspaceId))
}

/** Somebody else may have the job by now: then it is theirs, and no more ended than one that rests. */
async function rest({ job }: AnyHandler, row: JobRow, workspace: Workspace, { db, jobQueue, now }: WorkerServices): Promise<'rests'> {
  await deferJob(db, workspace.id, job, { name: job.name, id: row.id, retryCount: row.retryCount }, now())
  if (job.gate) await jobQueue.admitNext(job.gate, workspace.id)
  return 'rests'
}

/** The operation that a job works on: the one of its own id, unless it was parked. */
const operationOf = ({ id, data }: JobRow): string => data.operationId ?? id

const untracked = { checkpoint: undefined, begun: false }

/** One attempt's work, whatever scope it runs in. */
interface Work {
  readonly handler: AnyHandler
  readonly row: JobRow
  readonly signal: AbortSignal
  readonly services: WorkerServices
}

/** The same while it runs. `reached` holds the last checkpoint, from which it goes on when it is done again. */
interface RunningWork extends Work {
  readonly reached: { checkpoint: unknown }
  readonly tracked: Tracked
  readonly begun: boolean
}

function attemptIn<S extends PlatformScope>(scope: S, work: RunningWork): Attempt<unknown, unknown, S> {
  const { handler, row, signal, services, reached, tracked, begun } = work
  return {
    payload: handler.job.payload.parse(row.data.payload, 'payload'),
    scope,
    jobId: operationOf(row),
    signal,
    resources: services.resources,
    begun,
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
      await scope.db.transaction(async (tx) => settle(work, tx, await write(within(scope, tx))))
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

async function settle(work: Work, db: Executor, { result, fileId }: JobResult<unknown>): Promise<void> {
  if (!work.handler.job.tracked) return
  const ended = await completeOperation(db, operationOf(work.row), { status: 'done', result, fileId })
  if (!ended) throw new TakenOver()
  announce(work, db, ended.continues)
}

/** Tells whoever waits for the operation, and those who go on after it, once it is committed. */
const announce = ({ row, services }: Work, db: Executor, continues: string | null): void =>
  db.afterCommit(() => services.jobQueue.signals.signalCompletion(operationOf(row), continues))
