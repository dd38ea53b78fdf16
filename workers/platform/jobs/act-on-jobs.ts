import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type ActProgress, actOnAll, noProgress } from '#shared/platform/jobs/operator/act-on-all.ts'
import { actOnJobsJob } from '#shared/platform/jobs/operator/jobs.ts'
import { defineJobHandler } from '#workers/platform/jobs/handler.ts'

/** Does an operator's action to all jobs that match, a hundred in each transaction. Another attempt goes on after the last hundred. */
export const createActHandler = (jobs: readonly AnyJob[]) =>
  defineJobHandler(actOnJobsJob, async ({ payload, scope, jobId, checkpoint, advance, signal }) => {
    const { total, ...request } = payload
    const { done, skipped, answered } = await actOnAll(
      { ...scope, jobs },
      { ...request, by: jobId },
      (checkpoint as ActProgress | undefined) ?? noProgress,
      (tx, next) => {
        const checked = next.done + next.skipped + next.answered
        return advance({ done: checked, total: Math.max(total, checked) }, next, { ...scope, db: tx })
      },
      signal,
    )
    return { result: { done, skipped, skipped_answered: answered } }
  })
