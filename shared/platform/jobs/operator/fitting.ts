import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type JobAction, jobActions } from '#shared/platform/jobs/operator/act.ts'
import { type JobState, jobsByName } from '#shared/platform/jobs/operator/filter.ts'
import type { JobDetail } from '#shared/platform/jobs/operator/schemas.ts'
import { findAnswered } from '#shared/platform/jobs/pgboss/operator/describe.ts'

/** The states that an action may be done in. */
export const fittingStates: Readonly<Record<JobAction, readonly JobState[]>> = {
  retry: ['failed'],
  cancel: ['waiting', 'held', 'running'],
  discard: ['failed'],
}

/** What an operator may do to a job in its present state. */
interface FittingActions {
  readonly actions: readonly JobAction[]
  /** Whether somebody was given its failure, so that a retry needs `alsoAnswered`. */
  readonly isAnswered: boolean
}

/** Finds which actions fit a job. They may be refused all the same: the state may have changed when they are done. */
export async function findFittingActions(
  db: Pick<Executor, 'query'>,
  jobs: readonly AnyJob[],
  { id, kind, state, payload }: JobDetail,
): Promise<FittingActions> {
  const job = jobsByName(jobs).get(kind)
  const isAllowed: Readonly<Record<JobAction, boolean>> = {
    retry: payload !== null,
    cancel: job?.cancel !== 'refused' && (state !== 'running' || job?.tracked === true),
    discard: true,
  }
  const actions = jobActions.filter((action) => fittingStates[action].includes(state) && isAllowed[action])
  const isAnswered = actions.includes('retry') && ((await firstRow(db, findAnswered(id)))?.isAnswered ?? false)
  return { actions, isAnswered }
}
