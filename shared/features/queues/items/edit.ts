import type { Scope } from '#shared/core/scope/scope.ts'
import { requireEnabled, requireItemId, serializePayload } from '#shared/features/queues/definitions/load.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { announcedParams, changeParams } from '#shared/features/queues/items/change-params.ts'
import { deleteItem, updateItem } from '#shared/features/queues/items/change-store.ts'
import { requireItemAccess } from '#shared/features/queues/items/item-access.ts'
import { itemRefusalText } from '#shared/features/queues/items/move.ts'
import { type ChangedItem, type EditInput, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { previousClaimOf } from '#shared/features/queues/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Changes an item without moving it; with `release` it also ends the item's claim (docs/contract/queues.md#editing-items). Throws
 * NOT_FOUND, and VALIDATION_ERROR for a disabled queue, a closed item, a claim that the caller has lost, a malformed id or instant, an
 * oversized payload.
 */
export async function editItem(scope: Scope, queue: Queue, itemId: string, input: EditInput): Promise<ChangedItem> {
  requireEnabled(queue)
  const id = requireItemId(itemId)
  const { priority, batch, assignee_id, due_at, payload, release = false, note, claim_token } = input
  const isChange = [priority, batch, assignee_id, due_at, payload].some((value) => value !== undefined)
  await requireItemAccess(scope, queue, id)
  const row = await firstRow(
    scope.db,
    updateItem({
      ...changeParams(scope, queue),
      id,
      note: note ?? '',
      claimToken: claim_token,
      priority,
      batch,
      assigneeId: assignee_id === null ? '' : assignee_id,
      changesDueAt: due_at !== undefined,
      dueAt: due_at == null ? null : readInstant(due_at, 'due_at'),
      payload: payload === undefined ? null : serializePayload(payload, 'payload'),
      release,
      isEdit: isChange || (!release && note != null),
    }),
  )
  if (!row) throw problem('NOT_FOUND')
  const { refusal, ...item } = row
  if (refusal) throw problem('VALIDATION_ERROR', itemRefusalText(refusal, item))
  return { ...viewOfItem(queue, item, scope.now()), previous_claim: previousClaimOf(row) }
}

function readInstant(text: string, path: string): string {
  const instant = toUtcInstant(text)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `${path} must be an instant as RFC 3339 writes it, got ${text}`)
  return instant
}

/** Deletes an open or closed item permanently; its history stays. Throws NOT_FOUND. */
export async function removeItem(scope: Scope, queue: Queue, itemId: string): Promise<void> {
  requireEnabled(queue)
  const id = requireItemId(itemId)
  await requireItemAccess(scope, queue, id)
  requireRow(await scope.db.query(deleteItem({ ...announcedParams(scope, queue), id })))
  wakeNumbering(scope, 'soon')
}
