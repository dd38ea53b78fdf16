import { recordAction } from '#shared/core/operators/log.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { PauseChange } from '#shared/core/operators/schemas.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { pauseKind, pausePool, resumeKind, resumePool } from '#shared/platform/jobs/pauses/pause.ts'

/** What an operator pauses or resumes. */
interface Target {
  readonly target: 'kind' | 'pool'
  readonly name: string
}

/**
 * Pauses or resumes a kind of jobs or a pool and writes the log, in one transaction. `jobs` are the declared jobs. Returns the kinds that the
 * change is about: a pool leaves out those that cannot be paused. Throws VALIDATION_ERROR as the functions of `pause.ts` do.
 */
export async function changePause(
  scope: Pick<PlatformScope, 'db' | 'jobQueue' | 'operator'>,
  jobs: readonly AnyJob[],
  action: 'jobs.pause' | 'jobs.resume',
  { target, name }: Target,
): Promise<PauseChange> {
  const isPause = action === 'jobs.pause'
  const change = target === 'kind' ? (isPause ? pauseKind : resumeKind) : isPause ? pausePool : resumePool
  return scope.db.transaction(async (tx) => {
    const kinds = await change(tx, scope.jobQueue, jobs, name)
    await recordAction(tx, operatorOf(scope), action, { [target]: name })
    return { target, name, paused: isPause, kinds: [...kinds] }
  })
}
