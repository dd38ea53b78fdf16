import { createReader, type Scope } from '#shared/core/scope/scope.ts'
import { type PreviousClaimRow, previousClaim, previousClaimOf } from '#shared/features/queues/claims/previous-claim.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { findHistory, findHistoryOfItem } from '#shared/features/queues/history/store.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const text = nullable(t.String())
const instant = t.String({ format: 'date-time' })

/** An entry of a queue's history (decisions, Work queues); the scan fields are null in other entries. */
const historyEntry = t.Object(
  {
    id: t.String({ format: 'uuid' }),
    item_id: nullable(t.String({ format: 'uuid', description: 'null for a scan of an unknown key.' })),
    key: t.String(),
    kind: t.String({
      description:
        'added, moved, claimed, released, expired, edited, deleted, button, scanned (no item moved or created) or cancelled (by intake).',
    }),
    from_stage: text,
    to_stage: text,
    status: text,
    verdict: text,
    payload: nullable(t.Record(t.String(), t.Unknown())),
    scan_id: text,
    scanned_at: nullable(instant),
    station: text,
    actor_id: nullable(t.String({ format: 'uuid' })),
    actor_type: t.String(),
    note: t.String(),
    previous_claim: previousClaim,
    created_at: instant,
  },
  { title: 'QueueEvent' },
)
export const historySchema = schema(t.Array(historyEntry))
type HistoryEntry = TypeOf<typeof historySchema>[number]

export const historyQuery = schema(
  t.Object({
    item_id: t.Optional(t.String({ format: 'uuid' })),
    limit: t.Integer({ minimum: 1, maximum: 500, default: 100 }),
  }),
)

/** History of a queue or of one of its items, newest first, without items hidden from the caller. */
export async function listHistory(scope: Scope, queue: Queue, { item_id, limit }: TypeOf<typeof historyQuery>): Promise<HistoryEntry[]> {
  type HistoryRow = Omit<HistoryEntry, 'previous_claim'> & PreviousClaimRow
  const parameters = [scope.workspace.id, queue.id]
  const rows = await withItemAccess(scope, queue, (itemAccess) => {
    const statement =
      item_id === undefined ? findHistory(itemAccess, ...parameters, limit) : findHistoryOfItem(itemAccess, ...parameters, item_id, limit)
    return readWholeList<HistoryRow>(createReader(scope), statement, 'limit must be lower here')
  })
  // The first statement of a read adds columns of its own.
  return rows.map((row) => {
    const entry: HistoryEntry = { ...row, previous_claim: previousClaimOf(row) }
    return Object.fromEntries(visibleFields.map((name) => [name, entry[name]])) as unknown as HistoryEntry
  })
}

const visibleFields = Object.keys(historyEntry.properties) as (keyof HistoryEntry)[]
