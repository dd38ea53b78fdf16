import type { Scope } from '#shared/core/scope/scope.ts'
import { requireEnabled } from '#shared/features/queues/definitions/load.ts'
import { requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import { requireInvocable } from '#shared/features/queues/definitions/references.ts'
import { type Button, type Queue, queueNameOf } from '#shared/features/queues/definitions/schemas.ts'
import { changeParams, noScanFacts } from '#shared/features/queues/items/change-params.ts'
import { insertHistoryEntry } from '#shared/features/queues/items/change-store.ts'
import { findItemViews } from '#shared/features/queues/items/find.ts'
import type { ItemView } from '#shared/features/queues/items/schemas.ts'
import type { ButtonResult } from '#shared/features/queues/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** A stage's button; throws NOT_FOUND for an unknown stage or button. */
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

/** An item for which a button is pressed, or the error that prevents it. */
export type PressedItem = { readonly itemId: string; readonly item: ItemView } | { readonly itemId: string; readonly error: string }

/** Pairs each id with its item, if that is open in the button's stage, else with an error. */
export async function findPressedItems(scope: Scope, queue: Queue, stageKey: string, itemIds: readonly string[]): Promise<PressedItem[]> {
  const items = await findItemViews(scope, queue, itemIds.filter(isUuid))
  return itemIds.map((itemId): PressedItem => {
    const item = items.get(itemId.toLowerCase())
    if (!item) return { itemId, error: 'NOT_FOUND: the queue has no such item' }
    if (item.status !== 'open' || item.stage !== stageKey)
      return { itemId, error: `VALIDATION_ERROR: the item is ${item.status} in ${item.stage}` }
    return { itemId, item }
  })
}

/** Input of a button's function (docs/contract/queues.md#buttons). */
export const buttonInput = (queue: Queue, { input }: Button, item: ItemView) => ({
  queue: queueNameOf(queue),
  item,
  from_stage: item.stage,
  to_stage: item.stage,
  ...(input === undefined ? {} : { input }),
})

/**
 * Adds a history entry for a pressed button and its result; none when the item was deleted meanwhile: its history ends with that. The note of
 * a failure has no words of the function, which may hold what only its caller may read: they are in the result and in the function's runs.
 */
export async function recordButtonPress(scope: Scope, queue: Queue, buttonId: string, item: ItemView, result: ButtonResult): Promise<void> {
  await scope.db.query(
    insertHistoryEntry({
      ...changeParams(scope, queue),
      ...noScanFacts,
      itemId: item.id,
      isOpen: false,
      key: item.key,
      kind: 'button',
      stage: item.stage,
      verdict: null,
      payload: JSON.stringify({ button_id: buttonId, ok: result.ok }),
      note: result.ok ? '' : 'function failed',
    }),
  )
}
