import { withoutPersonalStanding } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { type Cause, impersonalCause } from '#shared/platform/kernel/cause.ts'

/** Whether the caller is the queue's last editor. */
const isOwn = ({ actor }: Scope, queue: Pick<Queue, 'editor_id'>): boolean => queue.editor_id !== null && queue.editor_id === actor.id

/**
 * The scope in which a button or `on_enter` of a queue starts work: without personal standing, unless the caller is the queue's last
 * editor.
 */
export const automationScope = (scope: Scope, queue: Pick<Queue, 'editor_id'>): Scope =>
  isOwn(scope, queue) ? scope : { ...scope, cause: impersonalCause(scope.cause), actor: withoutPersonalStanding(scope.actor) }

/** The cause of a function that a button or `on_enter` of a queue runs; it makes the chain of automations one longer. */
export const automationCause = (scope: Scope, queue: Pick<Queue, 'editor_id'>): Cause => {
  const { cause } = automationScope(scope, queue)
  return { ...cause, depth: cause.depth + 1 }
}
