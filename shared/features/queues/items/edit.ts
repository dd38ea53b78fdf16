import type { Scope } from '#shared/core/scope/scope.ts'
import { type PreviousClaimRow, previousClaimOf } from '#shared/features/queues/claims/previous-claim.ts'
import { requireEnabled, requireItemId, serializePayload } from '#shared/features/queues/definitions/load.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { deleteItem, updateItem as editStatement } from '#shared/features/queues/items/change-store.ts'
import { requireItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type MoveRefusal, refusalText } from '#shared/features/queues/items/move.ts'
import { type ChangedItem, type EditInput, type ItemRow, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toInstant, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Changes an item where it stands, and gives up its claim where that is asked (document 2, PATCH item body). Throws NOT_FOUND, and
 * VALIDATION_ERROR for a closed item, a claim that is not the caller's any more, an id or instant that is none.
 */
export async function editItem(scope: Scope, queue: Queue, itemId: string, input: EditInput): Promise<ChangedItem> {
  requireEnabled(queue)
  const id = requireItemId(itemId)
  const { priority, batch, assignee_id, due_at, payload, release = false, note, claim_token } = input
  const given = [priority, batch, assignee_id, due_at, payload].some((value) => value !== undefined)
  const { workspace, cause, now, db } = scope
  const time = now()
  await requireItemAccess(scope, queue, id)
  const [row] = await db.query<ItemRow & PreviousClaimRow & { refusal: MoveRefusal | null }>(
    editStatement(
      ...[workspace.id, queue.id, id, toInstant(time), cause.actorId, cause.actorId === null ? 'system' : cause.actorType, note ?? ''],
      ...[claim_token ?? null, priority ?? null, batch ?? null, assignee_id === undefined ? null : (assignee_id ?? '')],
      ...[due_at !== undefined, due_at == null ? null : instantIn(due_at, 'due_at')],
      ...[payload === undefined ? null : serializePayload(payload, 'payload'), release, given || (!release && note != null)],
    ),
  )
  if (!row) throw problem('NOT_FOUND')
  const { refusal, ...item } = row
  if (refusal) throw problem('VALIDATION_ERROR', refusalText(refusal, item, nowhere))
  return { ...viewOfItem(queue, item, time), previous_claim: previousClaimOf(row) }
}

/** An edit is refused for what has no stage in it. */
const nowhere = { key: '', label: '', wip_limit: 0 } as Stage

function instantIn(text: string, path: string): string {
  const instant = toUtcInstant(text)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `${path} must be an instant as RFC 3339 writes it, got ${text}`)
  return instant
}

/** Deletes an item for good, open or closed; its history stays. Throws NOT_FOUND. */
export async function removeItem(scope: Scope, queue: Queue, itemId: string): Promise<void> {
  requireEnabled(queue)
  const { db, workspace, cause, now } = scope
  const id = requireItemId(itemId)
  await requireItemAccess(scope, queue, id)
  const actorType = cause.actorId === null ? 'system' : cause.actorType
  const gone = await db.query(deleteItem(workspace.id, queue.id, id, toInstant(now()), cause.actorId, actorType))
  if (gone.length === 0) throw problem('NOT_FOUND')
}
