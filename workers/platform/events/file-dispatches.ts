import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { type Dispatch, findWorkspaceStates } from '#shared/platform/events/numbering-store.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import { insertWaitingDeliveries } from '#shared/platform/events/waiting-store.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { findCrowdedWorkspaces } from '#shared/platform/jobs/pgboss/crowded-workspaces.ts'
import { waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { planDispatch } from '#workers/platform/events/plan-dispatch.ts'

/**
 * While a workspace has this many jobs waiting in a subscriber's queue, its further deliveries wait outside, which is fair among
 * workspaces. Two batches, so the queue does not run empty before the next one (at 250, 12,000 jobs a second ran instead of 18,000).
 */
const maxWaitingJobs = 1_000

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
}

/** Workspaces with too many jobs of subscribers in the queue. The jobs of a paused subscriber do not hold up the others. */
export function findCrowded(db: Executor, jobQueue: JobQueue, subscriptions: Subscriptions): Promise<ReadonlySet<string>> {
  const names = new Set(Object.values(subscriptions).map(({ job }) => job.name))
  return findCrowdedWorkspaces(
    db,
    [...names].filter((name) => !jobQueue.pauses.has(name)),
    maxWaitingJobs,
  )
}

/** Whether the steps of automations of a workspace wait because it is suspended: they wait here, where they cost nothing. */
export const waitsWhole = (isSuspended: boolean | null): boolean => isSuspended === true && waitsForWorkspace('step')

/**
 * Enqueues the jobs of new dispatches, or stores the dispatches where they have to wait: in a suspended workspace, in one with many jobs in
 * a subscriber's queue or with earlier dispatches that wait, and where this process does not know a subscriber. Returns whether any wait.
 */
export async function fileOrKeep(
  tx: Tx,
  jobQueue: JobQueue,
  subscriptions: Subscriptions,
  dispatches: readonly Dispatch[],
): Promise<boolean> {
  if (dispatches.length === 0) return false
  const workspaceIds = [...new Set(dispatches.map(({ workspaceId }) => workspaceId))]
  const states = await tx.query(findWorkspaceStates({ workspaceIds }))
  const crowded = await findCrowded(tx, jobQueue, subscriptions)
  const closed = new Set(
    states.flatMap(({ workspaceId, isSuspended, hasWaiting }) =>
      waitsWhole(isSuspended) || hasWaiting || crowded.has(workspaceId) ? [workspaceId] : [],
    ),
  )
  const isKnown = ({ listeners }: Dispatch) => Object.keys(listeners).every((name) => Object.hasOwn(subscriptions, name))
  const mayGo = (dispatch: Dispatch) => !closed.has(dispatch.workspaceId) && isKnown(dispatch)
  const { go = [], wait = [] } = Object.groupBy(dispatches, (dispatch) => (mayGo(dispatch) ? 'go' : 'wait'))
  await enqueueDispatches({ db: tx, jobQueue }, subscriptions, go)
  if (wait.length > 0) await tx.query(insertWaitingDeliveries({ dispatches: JSON.stringify(wait) }))
  return wait.length > 0
}

/** Enqueues one job for each dispatch and subscriber. They run as the platform, since the actor of the change may have left the workspace. */
export async function enqueueDispatches({ db, jobQueue }: Services, subscriptions: Subscriptions, dispatches: readonly Dispatch[]) {
  const deliveries = dispatches.flatMap((dispatch) => planDispatch(dispatch, subscriptions))
  for (const [job, ofJob] of Map.groupBy(deliveries, ({ subscription }) => subscription.job)) {
    const requests = ofJob.map(({ id, cause, changes }) => ({ id, origin: { workspaceId: changes.workspaceId, cause }, payload: changes }))
    await enqueueAll(jobQueue, db, job, requests)
  }
}
