import { type Scope, within } from '#shared/core/scope/scope.ts'
import { type PreviousClaimRow, previousClaimOf } from '#shared/features/queues/claims/previous-claim.ts'
import { requireEnabled, requireItemId } from '#shared/features/queues/definitions/load.ts'
import { requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { lockStage } from '#shared/features/queues/definitions/store.ts'
import type { ScanFacts } from '#shared/features/queues/items/add.ts'
import { updateItemStage as moveStatement } from '#shared/features/queues/items/change-store.ts'
import { findAnyItem } from '#shared/features/queues/items/find.ts'
import { requireItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type ChangedItem, type ItemRow, type ItemStatus, type MoveInput, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { enqueueOnEnter, onEnterNote } from '#shared/features/queues/stages/on-enter.ts'
import { patchesRecord, patchRecord } from '#shared/features/queues/stages/record-patch.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** A move that somebody wants, by whatever door: route, SDK, flow, scan or button. */
export interface Move {
  readonly to: Stage
  readonly status?: ItemStatus | undefined
  readonly note?: string | null | undefined
  readonly claimToken?: string | undefined
  readonly scan?: ScanFacts & { readonly payload: string | null }
  /** The item's version as it was looked at, where the move stands on that. */
  readonly version?: number
  /** `cancelled` where intake ends the item. */
  readonly kind?: 'moved' | 'cancelled'
}

/** Why an item did not move. `changed`: somebody else changed it since it was looked at. */
export type MoveRefusal = 'changed' | 'closed' | 'stale' | 'lost' | 'from' | 'full'

/** What came of a move; `item` is as it is then. */
export interface MoveResult {
  readonly item: ItemRow
  readonly from: string
  readonly refusal: MoveRefusal | null
  readonly previousClaim: ChangedItem['previous_claim']
}

/** What each refusal says to whoever asked. */
export const refusalText = (refusal: MoveRefusal, item: Pick<ItemRow, 'stage' | 'status'>, { key, label, wip_limit }: Stage): string =>
  ({
    changed: 'The item changed meanwhile',
    closed: `The item is closed (${item.status})`,
    stale: 'claim_token is the claim of the item no more',
    lost: 'Your claim of the item ran out, and somebody else holds it',
    from: `The stage ${label} (${key}) takes no items from ${item.stage}`,
    full: `The stage ${label} (${key}) is at its limit of ${wip_limit}`,
  })[refusal]

/**
 * Moves an item into a stage, or says why not; in the second case nothing is written. Every door comes through here. The record patch is
 * written first, as the caller: what refuses it is thrown, and the item stays. Undefined when there is no such item.
 */
export async function moveItem(scope: Scope, queue: Queue, itemId: string, move: Move): Promise<MoveResult | undefined> {
  const { to } = move
  if (to.wip_limit === 0 && to.record_patch === null && to.on_enter === null) return moveAlone(scope, queue, itemId, move)
  try {
    return await apart(scope, (inside) => moveWithin(inside, queue, itemId, move))
  } catch (error) {
    if (error instanceof NotMoved) return error.moved
    throw error
  }
}

/** In a transaction of its own, or a part of the caller's that can be taken back by itself. */
const apart = <T>(scope: Scope, work: (inside: Scope) => Promise<T>): Promise<T> =>
  'inTransaction' in scope.db ? withSavepoint(scope.db, () => work(scope)) : scope.db.transaction((tx) => work(within(scope, tx)))

/** Takes the transaction back in which a record was written for a move that was refused then. */
class NotMoved extends Error {
  readonly moved: MoveResult

  constructor(moved: MoveResult) {
    super('not moved')
    this.moved = moved
  }
}

/** Always in the order of stage, record, item, so that no two moves wait for each other in a circle. */
async function moveWithin(scope: Scope, queue: Queue, itemId: string, move: Move): Promise<MoveResult | undefined> {
  const { to } = move
  if (to.wip_limit > 0) await scope.db.query(lockStage(scope.workspace.id, queue.id, to.key))
  const looked = to.record_patch === null ? undefined : await findAnyItem(scope, queue, itemId)
  const willPatch = looked !== undefined && patchesRecord(queue, to, looked) && looked.status === 'open' && accepts(to, looked)
  if (willPatch) await patchRecord(scope, queue, to, looked)
  const moved = await moveAlone(scope, queue, itemId, move)
  if (moved?.refusal && willPatch) throw new NotMoved(moved)
  if (moved && moved.refusal === null) await enqueueOnEnter(scope, queue, [{ itemId, from: moved.from, to: to.key }])
  return moved
}

const accepts = ({ from }: Stage, { stage }: ItemRow): boolean => from.length === 0 || from.includes(stage)

async function moveAlone(scope: Scope, queue: Queue, itemId: string, move: Move): Promise<MoveResult | undefined> {
  const { workspace, cause, now, db } = scope
  const { to, scan } = move
  const [row] = await db.query<ItemRow & PreviousClaimRow & { from_stage: string; refusal: MoveRefusal | null }>(
    moveStatement(
      ...[workspace.id, queue.id, itemId, to.key, move.status ?? (to.kind === 'terminal' ? 'done' : 'open'), toInstant(now())],
      ...[cause.actorId, cause.actorId === null ? 'system' : cause.actorType, onEnterNote(scope, to, move.note ?? '')],
      ...[to.from.length === 0 ? null : to.from, to.wip_limit, move.claimToken ?? null, move.version ?? null, move.kind ?? 'moved'],
      ...[scan ? 'moved' : null, scan?.payload ?? null, scan?.scanId ?? null, scan?.scannedAt ?? null, scan?.station ?? null],
    ),
  )
  if (!row) return undefined
  const { from_stage: from, refusal, ...item } = row
  return { item, from, refusal, previousClaim: previousClaimOf(row) }
}

/**
 * Moves an item as a caller asks (document 2, POST move). Throws NOT_FOUND for an item or stage that is not there, VALIDATION_ERROR for what
 * the stage, the claim or the item itself refuses, and what the change of the linked record throws.
 */
export async function moveItemForCaller(scope: Scope, queue: Queue, itemId: string, input: MoveInput): Promise<ChangedItem> {
  requireEnabled(queue)
  const id = requireItemId(itemId)
  const to = requireStage(queue, input.to_stage)
  const { status, note, claim_token: claimToken } = input
  await requireItemAccess(scope, queue, id)
  const moved = await moveItem(scope, queue, id, { to, status, note, claimToken })
  if (!moved) throw problem('NOT_FOUND')
  if (moved.refusal) throw problem('VALIDATION_ERROR', refusalText(moved.refusal, moved.item, to))
  return { ...viewOfItem(queue, moved.item, scope.now()), previous_claim: moved.previousClaim }
}
