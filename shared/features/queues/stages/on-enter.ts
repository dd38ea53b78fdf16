import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { runOnEnterJob } from '#shared/features/queues/jobs.ts'
import { maxCauseDepth } from '#shared/platform/kernel/cause.ts'

/** An item's entry into stage `to`; `from` is null for a new item. */
interface StageEntry {
  readonly itemId: string
  readonly from: string | null
  readonly to: string
}

/**
 * Enqueues the on_enter functions and flows of the entered stages, in the transaction that moves the items. A function runs with the rights
 * that both the mover and the function's author have, a flow with those of its editor (docs/contract/queues.md#on-enter). Each run makes
 * the chain of automations one longer.
 */
export async function enqueueOnEnter(scope: Scope, queue: Queue, entries: readonly StageEntry[]): Promise<void> {
  const triggering = entries.filter(({ to }) => queue.stages.some((stage) => stage.key === to && runsOnEnter(scope, stage)))
  if (triggering.length === 0) return
  const { workspace, cause } = scope
  await scope.jobQueue.enqueue(
    scope.db,
    runOnEnterJob,
    { workspaceId: workspace.id, cause },
    { queueId: queue.id, entries: [...triggering] },
  )
}

/**
 * Whether on_enter runs for items that enter the stage now: a function does not when the chain of automations is too long. A flow is
 * started anyway; it checks the length itself and shows the failure as a run.
 */
const runsOnEnter = ({ cause }: Scope, { on_enter }: Stage): boolean =>
  on_enter !== null && (cause.depth < maxCauseDepth || on_enter.flow_id !== undefined)

/** Note of a history entry: the mover's note, and a remark when on_enter was not run because the chain is too long. */
export function onEnterNote(scope: Scope, stage: Stage, note: string): string {
  if (stage.on_enter === null || runsOnEnter(scope, stage)) return note
  const remark = `on_enter was not run: automations set each other off more than ${maxCauseDepth} deep`
  return note === '' ? remark : `${note} (${remark})`
}
