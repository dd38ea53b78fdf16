import { type Executor, firstRow, type Tx } from '#shared/platform/db/database.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { type ActOptions, type ActServices, actOn, type JobAction } from '#shared/platform/jobs/operator/act.ts'
import { checkFilter, type JobFilter } from '#shared/platform/jobs/operator/filter.ts'
import { untrackedNames } from '#shared/platform/jobs/operator/find-jobs.ts'
import { fittingStates } from '#shared/platform/jobs/operator/fitting.ts'
import { actOnJobsJob } from '#shared/platform/jobs/operator/jobs.ts'
import { countMatches, findPage, type JobPosition, type JobSearch } from '#shared/platform/jobs/pgboss/operator/search.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** Jobs of one transaction: few, so that workers which need the same rows wait for tenths of a second at most. */
const batchSize = 500

/** By how much the matches may differ from the expected number. */
const allowedDifference = 0.1

/** How far an action has come: the position of the last job, and the counts. */
export interface ActProgress {
  readonly after: JobPosition | null
  readonly done: number
  readonly skipped: number
  readonly answered: number
}

export const noProgress: ActProgress = { after: null, done: 0, skipped: 0, answered: 0 }

/** An action to all jobs that a filter matched when it was filed. */
export interface ActRequest extends ActOptions {
  readonly action: JobAction
  readonly filter: JobFilter
  /** The job that does the action: it is left out, also where the clock of the process that filed it was ahead of the database's. */
  readonly by?: string | undefined
}

/**
 * Files an action to all matches as a job of the platform. Throws VALIDATION_ERROR, which names the number of matches, when it differs from
 * `expect` by more than a tenth. Returns the job's id and the number.
 */
export async function fileAction(
  { db, jobQueue, jobs, now }: { readonly db: Tx; readonly jobQueue: JobQueue; readonly jobs: readonly AnyJob[]; readonly now: () => Date },
  cause: Cause,
  { action, filter, alsoAnswered = false }: ActRequest,
  expect: number,
): Promise<{ readonly jobId: string; readonly total: number }> {
  const bounded = boundFilter(jobs, action, filter, now())
  const total = await countMatching(db, jobs, action, bounded)
  if (Math.abs(total - expect) > expect * allowedDifference)
    throw problem('VALIDATION_ERROR', `expect must be about the number of jobs that match, ${total}, got ${expect}`)
  const payload = { action, filter: bounded, alsoAnswered, total }
  return { jobId: await jobQueue.enqueue(db, actOnJobsJob, { workspaceId: null, cause }, payload), total }
}

/**
 * The filter of an action to jobs filed before now, so that neither the action itself nor later jobs match. Throws VALIDATION_ERROR for a
 * state that the action does not fit.
 */
export function boundFilter(jobs: readonly AnyJob[], action: JobAction, filter: JobFilter, now: Date): JobFilter {
  const { state, to, ...others } = checkFilter(jobs, filter)
  const states = fittingStates[action]
  if (state !== undefined && !states.includes(state))
    throw problem('VALIDATION_ERROR', `filter.state must be ${states.join(' or ')} for ${action}, got ${state}`)
  const [only] = states.length === 1 ? states : [state]
  const at = toInstant(now)
  return { ...others, ...(only !== undefined && { state: only }), to: to !== undefined && to < at ? to : at }
}

const searchOf = (jobs: readonly AnyJob[], action: JobAction, filter: JobFilter): JobSearch => ({
  filter,
  untracked: untrackedNames(jobs),
  sort: 'created_at',
  onlyOpen: action === 'cancel',
})

/** Counts the jobs that an action to a filter of `boundFilter` means, without a bound. */
export const countMatching = async (
  db: Pick<Executor, 'query'>,
  jobs: readonly AnyJob[],
  action: JobAction,
  filter: JobFilter,
): Promise<number> => (await firstRow(db, countMatches(searchOf(jobs, action, filter), 2 ** 31 - 1)))?.count ?? 0

/**
 * Acts on the next jobs that match, each batch in a transaction, until none is left. `save` is called in each transaction with the progress,
 * from which another call goes on.
 */
export async function actOnAll(
  services: ActServices,
  { action, filter, alsoAnswered, by }: ActRequest,
  from: ActProgress,
  save: (tx: Tx, progress: ActProgress) => Promise<void>,
  signal?: AbortSignal,
): Promise<ActProgress> {
  const { db, jobs } = services
  let progress = from
  for (;;) {
    signal?.throwIfAborted()
    const search = { ...searchOf(jobs, action, filter), after: progress.after ?? undefined }
    const found = await db.query(findPage(search, batchSize))
    const last = found.at(-1)
    if (!last) return progress
    const others = found.filter(({ id }) => id !== by)
    const before = progress
    progress = await db.transaction(async (tx) => {
      const acted = await actOn({ ...services, db: tx }, action, others, { alsoAnswered })
      const next = {
        after: { created_at: last.created_at, id: last.id },
        done: before.done + acted.done.length,
        skipped: before.skipped + acted.unfit.length,
        answered: before.answered + acted.answered.length,
      }
      await save(tx, next)
      return next
    })
  }
}
