import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { runOnEnter } from '#shared/features/queues/jobs.ts'
import { maxCauseDepth } from '#shared/platform/kernel/cause.ts'

/** That an item came into a stage, and from which; null for a new one. */
export interface StageEntry {
  readonly itemId: string
  readonly from: string | null
  readonly to: string
}

/**
 * Has what the stages have for those who enter run, in the transaction that lets the items in: a function with the lesser of the mover's and
 * its author's rights, a flow as its own editor (decisions, Work queues). Each step makes the chain of automations longer by one.
 */
export async function enqueueOnEnter(scope: Scope, queue: Queue, entries: readonly StageEntry[]): Promise<void> {
  const running = entries.filter(({ to }) => queue.stages.some((stage) => stage.key === to && runs(scope, stage)))
  if (running.length === 0) return
  const { workspace, cause } = scope
  await scope.jobQueue.enqueue(scope.db, runOnEnter, { workspaceId: workspace.id, cause }, { queueId: queue.id, entries: [...running] })
}

/** Whether something is to run for items that enter the stage now. A flow counts the steps itself, and says in a run that there are too many. */
const runs = ({ cause }: Scope, { on_enter }: Stage): boolean =>
  on_enter !== null && (cause.depth < maxCauseDepth || on_enter.flow_id !== undefined)

/** What the history says of entering: the mover's words, and that nothing more is run where a chain has grown too long. */
export function onEnterNote(scope: Scope, stage: Stage, note: string): string {
  if (stage.on_enter === null || runs(scope, stage)) return note
  const told = `on_enter was not run: automations set each other off more than ${maxCauseDepth} deep`
  return note === '' ? told : `${note} (${told})`
}
