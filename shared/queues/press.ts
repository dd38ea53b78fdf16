import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { instantOf } from '#shared/kernel/instant.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { requireStage } from '#shared/queues/definition.ts'
import { itemsByIds } from '#shared/queues/find.ts'
import type { ItemView } from '#shared/queues/item.ts'
import type { ButtonResult } from '#shared/queues/jobs.ts'
import { queueLimits } from '#shared/queues/limits.ts'
import { requireEnabled } from '#shared/queues/load.ts'
import { type Button, nameOf, type Queue } from '#shared/queues/queue.ts'
import { requireInvocable } from '#shared/queues/references.ts'
import { noteEntry } from '#shared/queues/store/change.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** What presses a stage's button (document 2, POST stage action). */
export const actionInput = schema(
  t.Object(
    {
      button_id: t.String(),
      item_ids: t.Array(t.String({ format: 'uuid' }), { minItems: 1, maxItems: queueLimits.actionItems }),
    },
    { title: 'QueueAction' },
  ),
)

/** A stage's button; throws NOT_FOUND for a stage or button that the queue does not have. */
export function requireButton(queue: Queue, stageKey: string, buttonId: string): Button {
  const button = requireStage(queue, stageKey).buttons.find(({ id }) => id === buttonId)
  if (!button) throw problem('NOT_FOUND', `The stage ${stageKey} has no button ${buttonId}`)
  return button
}

/** Throws unless the caller may press the button now: FORBIDDEN without functions:invoke on its function. */
export async function requirePressable(scope: Scope, queue: Queue, stageKey: string, buttonId: string): Promise<Button> {
  const button = requireButton(queue, stageKey, buttonId)
  requireEnabled(queue)
  await requireInvocable(scope, button.function_id, 'button_id')
  return button
}

/** An item for which a button is pressed, or why it is not. */
export type Pressed = { readonly itemId: string; readonly item: ItemView } | { readonly itemId: string; readonly error: string }

/** The items that a button is pressed for: those that are open in its stage. */
export async function pressedItems(scope: Scope, queue: Queue, stageKey: string, itemIds: readonly string[]): Promise<Pressed[]> {
  const items = await itemsByIds(scope, queue, itemIds.filter(isUuid))
  return itemIds.map((itemId): Pressed => {
    const item = items.get(itemId.toLowerCase())
    if (!item) return { itemId, error: 'NOT_FOUND: the queue has no such item' }
    if (item.status !== 'open' || item.stage !== stageKey)
      return { itemId, error: `VALIDATION_ERROR: the item is ${item.status} in ${item.stage}` }
    return { itemId, item }
  })
}

/** What a button's function gets (decisions, Work queues). */
export const inputOf = (queue: Queue, { input }: Button, item: ItemView) => ({
  queue: nameOf(queue),
  item,
  from_stage: item.stage,
  to_stage: item.stage,
  ...(input === undefined ? {} : { input }),
})

/** Writes down that a button was pressed for an item, and what came of it. */
export async function noteButton(scope: Scope, queue: Queue, buttonId: string, item: ItemView, result: ButtonResult): Promise<void> {
  const { workspace, cause, now, db } = scope
  await db.query(
    noteEntry(
      ...[workspace.id, queue.id, item.id, item.key, 'button', item.stage, null, JSON.stringify({ button_id: buttonId, ok: result.ok })],
      ...[null, null, null, instantOf(now()), cause.actorId, cause.actorId === null ? 'system' : cause.actorType],
      result.error ?? '',
    ),
  )
}
