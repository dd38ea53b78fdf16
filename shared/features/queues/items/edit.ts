import type { Scope } from '#shared/core/scope/scope.ts'
import { previousClaimOf } from '#shared/features/queues/claims/previous-claim.ts'
import { requireEnabled, requireItemId, serializePayload } from '#shared/features/queues/definitions/load.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { deleteItem, updateItem } from '#shared/features/queues/items/change-store.ts'
import { requireItemAccess } from '#shared/features/queues/items/item-access.ts'
import { refusalText } from '#shared/features/queues/items/move.ts'
import { type ChangedItem, type EditInput, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { actorColumns } from '#shared/platform/kernel/cause.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { toInstant, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

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
  const { workspace, cause, now, db } = scope
  const changedAt = now()
  await requireItemAccess(scope, queue, id)
  const [actorId, actorType] = actorColumns(cause)
  const [row] = await db.query(
    updateItem({
      workspaceId: workspace.id,
      queueId: queue.id,
      id,
      now: toInstant(changedAt),
      actorId,
      actorType,
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
  if (refusal) throw problem('VALIDATION_ERROR', refusalText(refusal, item, noStage))
  return { ...viewOfItem(queue, item, changedAt), previous_claim: previousClaimOf(row) }
}

/** `refusalText` needs a target stage; refusals of an edit name none. */
const noStage = { key: '', label: '', wip_limit: 0 } as Stage

function readInstant(text: string, path: string): string {
  const instant = toUtcInstant(text)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `${path} must be an instant as RFC 3339 writes it, got ${text}`)
  return instant
}

/** Deletes an open or closed item permanently; its history stays. Throws NOT_FOUND. */
export async function removeItem(scope: Scope, queue: Queue, itemId: string): Promise<void> {
  requireEnabled(queue)
  const { db, workspace, cause, now } = scope
  const id = requireItemId(itemId)
  await requireItemAccess(scope, queue, id)
  const [actorId, actorType] = actorColumns(cause)
  requireRow(await db.query(deleteItem({ workspaceId: workspace.id, queueId: queue.id, id, now: toInstant(now()), actorId, actorType })))
}
