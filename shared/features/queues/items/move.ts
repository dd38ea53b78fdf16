import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireEnabled, requireItemId } from '#shared/features/queues/definitions/load.ts'
import { requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { lockStage } from '#shared/features/queues/definitions/store.ts'
import { announcedParams, noScanFacts, type ScanFacts } from '#shared/features/queues/items/change-params.ts'
import { drawEntryId, type ItemRefusal, type MoveRefusal, updateItemStage } from '#shared/features/queues/items/change-store.ts'
import { findAnyItem } from '#shared/features/queues/items/find.ts'
import { requireItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type ChangedItem, type ItemRow, type ItemStatus, type MoveInput, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { enqueueOnEnter, onEnterNote } from '#shared/features/queues/stages/on-enter.ts'
import { patchesRecord, patchRecord } from '#shared/features/queues/stages/record-patch.ts'
import { previousClaimOf } from '#shared/features/queues/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { causedBy } from '#shared/platform/kernel/cause.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'

/** A requested move, from a route, the SDK, a flow or a scan. */
export interface Move {
  readonly to: Stage
  readonly status?: ItemStatus | undefined
  readonly note?: string | null | undefined
  readonly claimToken?: string | undefined
  readonly scan?: ScanFacts & { readonly payload: string | null }
  /** The expected version of the item; the move is refused as `changed` when it differs. */
  readonly version?: number
}

/** Result of a move. `item` is the item's state afterwards, `from` the stage in which it was before. */
interface MoveResult {
  readonly item: ItemRow
  readonly from: string
  readonly refusal: MoveRefusal | null
  readonly previousClaim: ChangedItem['previous_claim']
}

/** Message of a refused change. */
export const itemRefusalText = (refusal: ItemRefusal, item: Pick<ItemRow, 'status'>): string => itemRefusals(item)[refusal]

/** Message of a refused move into a stage. */
export const refusalText = (refusal: MoveRefusal, item: Pick<ItemRow, 'stage' | 'status'>, { key, label, wip_limit }: Stage): string =>
  ({
    ...itemRefusals(item),
    changed: 'The item changed meanwhile',
    from: `The stage ${label} (${key}) takes no items from ${item.stage}`,
    full: `The stage ${label} (${key}) is at its limit of ${wip_limit}`,
  })[refusal]

const itemRefusals = ({ status }: Pick<ItemRow, 'status'>): Readonly<Record<ItemRefusal, string>> => ({
  closed: `The item is closed (${status})`,
  stale: 'claim_token has expired',
  lost: 'Your claim of the item expired, and another caller has claimed it',
})

/**
 * Moves an item into a stage, or returns the refusal and writes nothing. All moves use this function. The record patch is written first, as
 * the caller; its errors are thrown and the item stays. Returns undefined for an unknown item.
 */
export async function moveItem(scope: Scope, queue: Queue, itemId: string, move: Move): Promise<MoveResult | undefined> {
  const { wip_limit, record_patch, on_enter } = move.to
  if (wip_limit === 0 && record_patch === null && on_enter === null) return enterStage(scope, queue, itemId, move)
  try {
    return await atomically(scope, (txScope) => moveWithEffects(txScope, queue, itemId, move))
  } catch (error) {
    if (error instanceof MoveRefused) return error.result
    throw error
  }
}

/** Runs work in a transaction, or in a savepoint of the caller's transaction. */
const atomically = <T>(scope: Scope, work: (txScope: Scope) => Promise<T>): Promise<T> =>
  'inTransaction' in scope.db ? withSavepoint(scope.db, () => work(scope)) : scope.db.transaction((tx) => work(within(scope, tx)))

/** Thrown to roll back the record patch of a move that is then refused. */
class MoveRefused extends Error {
  readonly result: MoveResult

  constructor(result: MoveResult) {
    super('not moved')
    this.result = result
  }
}

/** Locks stage, record and item in this order, so that moves do not deadlock. */
async function moveWithEffects(scope: Scope, queue: Queue, itemId: string, move: Move): Promise<MoveResult | undefined> {
  const { to } = move
  if (to.wip_limit > 0) await scope.db.query(lockStage({ workspaceId: scope.workspace.id, queueId: queue.id, key: to.key }))
  const current = to.record_patch === null ? undefined : await findAnyItem(scope, queue, itemId)
  const willPatch = current !== undefined && patchesRecord(queue, to, current) && current.status === 'open' && acceptsFrom(to, current)
  const entryId = willPatch ? await patchBeforeMove(scope, queue, to, current) : null
  const result = await enterStage(scope, queue, itemId, { ...move, note: onEnterNote(scope, to, move.note ?? '') }, entryId)
  if (result?.refusal && willPatch) throw new MoveRefused(result)
  if (result && result.refusal === null) await enqueueOnEnter(scope, queue, [{ itemId, from: result.from, to: to.key }])
  return result
}

/** Patches the record of an item, and returns the id for the history entry of the move, which is the cause of the change. */
async function patchBeforeMove(scope: Scope, queue: Queue, to: Stage, item: ItemRow): Promise<string> {
  const { id } = requireRow(await scope.db.query(drawEntryId()))
  await patchRecord({ ...scope, cause: causedBy(scope.cause, 'queue', id) }, queue, to, item)
  return id
}

const acceptsFrom = ({ from }: Stage, { stage }: ItemRow): boolean => from.length === 0 || from.includes(stage)

const enterStage = (
  scope: Scope,
  queue: Queue,
  itemId: string,
  move: Move,
  entryId: string | null = null,
): Promise<MoveResult | undefined> => {
  const { to, scan, note, status = to.kind === 'terminal' ? 'done' : 'open' } = move
  return updateStage(scope, queue, itemId, {
    ...(scan ?? noScan),
    entryId,
    kind: 'moved',
    verdict: scan ? 'moved' : null,
    stage: to.key,
    status,
    note: note ?? '',
    fromStages: to.from.length === 0 ? null : to.from,
    wipLimit: to.wip_limit,
    claimToken: move.claimToken,
    expectedVersion: move.version,
  })
}

const noScan = { ...noScanFacts, payload: null }

/** Closes an item in its stage as cancelled, for intake. The stage's limit, `from`, record patch and on_enter do not apply. */
export const cancelItem = (scope: Scope, queue: Queue, { id, stage }: Pick<ItemRow, 'id' | 'stage'>, note: string) =>
  updateStage(scope, queue, id, {
    ...noScan,
    entryId: null,
    kind: 'cancelled',
    verdict: null,
    stage,
    status: 'cancelled',
    note,
    fromStages: null,
    wipLimit: 0,
    claimToken: null,
    expectedVersion: null,
  })

type StageChange = Omit<Parameters<typeof updateItemStage>[0], 'id' | keyof ReturnType<typeof announcedParams>>

async function updateStage(scope: Scope, queue: Queue, id: string, change: StageChange): Promise<MoveResult | undefined> {
  const row = await firstRow(scope.db, updateItemStage({ ...announcedParams(scope, queue), id, ...change }))
  if (!row) return undefined
  if (row.refusal === null) wakeNumbering(scope, 'soon')
  const { from_stage: from, refusal, ...item } = row
  return { item, from, refusal, previousClaim: previousClaimOf(row) }
}

/**
 * Moves an item for a caller (docs/contract/queues.md#moving-items). Throws NOT_FOUND for an unknown item or stage, VALIDATION_ERROR when
 * the stage, the claim or the item refuses the move, and the errors of changing the linked record.
 */
export async function moveItemForCaller(scope: Scope, queue: Queue, itemId: string, input: MoveInput): Promise<ChangedItem> {
  requireEnabled(queue)
  const id = requireItemId(itemId)
  const to = requireStage(queue, input.to_stage)
  const { status, note, claim_token: claimToken } = input
  await requireItemAccess(scope, queue, id)
  const result = await moveItem(scope, queue, id, { to, status, note, claimToken })
  if (!result) throw problem('NOT_FOUND')
  if (result.refusal) throw problem('VALIDATION_ERROR', refusalText(result.refusal, result.item, to))
  return { ...viewOfItem(queue, result.item, scope.now()), previous_claim: result.previousClaim }
}
