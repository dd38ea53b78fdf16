import type { Executor, Tx } from '#shared/platform/db/database.ts'
import type { Dispatch } from '#shared/platform/events/numbering-store.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import { insertWaitingDeliveries } from '#shared/platform/events/waiting-store.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { planDispatch } from '#workers/platform/events/plan-dispatch.ts'

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
}

/** Whether the steps of automations of a workspace wait because it is suspended: they wait here, where they cost nothing. */
export const waitsWhole = (isSuspended: boolean | null): boolean => isSuspended === true && waitsForWorkspace('step')

/**
 * Enqueues the jobs of new dispatches, or stores the dispatches where they have to wait: in the workspaces of `closed`, and where this
 * process does not know a subscriber. Returns whether any wait.
 */
export async function fileOrKeep(
  tx: Tx,
  jobQueue: JobQueue,
  subscriptions: Subscriptions,
  dispatches: readonly Dispatch[],
  closed: ReadonlySet<string>,
): Promise<boolean> {
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
