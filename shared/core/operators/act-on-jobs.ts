import { recordAction } from '#shared/core/operators/log.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type ActOptions, actOnJob, type JobAction } from '#shared/platform/jobs/operator/act.ts'
import {
  type ActProgress,
  type ActRequest,
  actOnAll,
  boundFilter,
  countMatching,
  fileAction,
  noProgress,
} from '#shared/platform/jobs/operator/act-on-all.ts'
import type { JobFilter } from '#shared/platform/jobs/operator/filter.ts'
import { findJob, readJob } from '#shared/platform/jobs/operator/find-jobs.ts'
import type { JobDetail } from '#shared/platform/jobs/operator/schemas.ts'

/** The names of the actions in the log. */
const logged = { retry: 'jobs.retry', cancel: 'jobs.cancel', discard: 'jobs.discard' } as const

/**
 * Does an action to one job, with its entry in the log, and returns the job: as it was, but for its state, where nothing of it is kept. That is
 * so for a job without tracking that was held for its workspace, and for one of which only the dead letter was left. Throws like `actOnJob`.
 */
export async function operateJob(
  scope: PlatformScope,
  jobs: readonly AnyJob[],
  action: JobAction,
  id: string,
  options: ActOptions,
): Promise<JobDetail> {
  return scope.db.transaction(async (tx) => {
    const before = await findJob(tx, jobs, id)
    const { kind, workspace } = before
    await actOnJob({ ...scope, db: tx, jobs }, action, id, options)
    await recordAction(tx, operatorOf(scope), logged[action], { job: id, kind, workspace })
    return (await readJob(tx, jobs, id)) ?? { ...before, state: 'cancelled', why: null }
  })
}

/** Files an action to all matches as a job, with its entry in the log. Returns the job's id. Throws like `fileAction`. */
export async function operateJobs(scope: PlatformScope, jobs: readonly AnyJob[], request: ActRequest, expect: number): Promise<string> {
  return scope.db.transaction(async (tx) => {
    const { jobId, total } = await fileAction({ ...scope, db: tx, jobs }, scope.cause, request, expect)
    const subject = { filter: request.filter, job: jobId }
    if (total > 0) await recordAction(tx, operatorOf(scope), logged[request.action], subject, total)
    return jobId
  })
}

/** An action to all matches, and their number when it began. */
interface PreparedAction {
  readonly matches: number
  /** Acts in this process; the entry in the log commits with the first jobs. */
  readonly run: () => Promise<ActProgress>
}

/** Prepares an action to all matches that runs in this process, for a command. Throws VALIDATION_ERROR for a filter that does not fit. */
export async function prepareJobs(
  scope: PlatformScope,
  jobs: readonly AnyJob[],
  action: JobAction,
  given: JobFilter,
  { alsoAnswered }: ActOptions,
): Promise<PreparedAction> {
  const filter = boundFilter(jobs, action, given, scope.now())
  const matches = await countMatching(scope.db, jobs, action, filter)
  return {
    matches,
    run: () => {
      let isLogged = false
      return actOnAll({ ...scope, jobs }, { action, filter, alsoAnswered }, noProgress, async (tx) => {
        if (!isLogged) await recordAction(tx, operatorOf(scope), logged[action], { filter: given }, matches)
        tx.afterCommit(() => {
          isLogged = true
        })
      })
    },
  }
}
