import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireEnabled, serializePayload } from '#shared/features/queues/definitions/load.ts'
import { findStartStage, requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { findOpenItems, type InsertedRow, insertItems } from '#shared/features/queues/items/add-store.ts'
import { announcedParams, noScanFacts, type ScanFacts } from '#shared/features/queues/items/change-params.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { AddAnswer, AddedItem, AddInput, ItemSource, ItemStatus, NewItem } from '#shared/features/queues/items/schemas.ts'
import { findAccessibleIds } from '#shared/features/queues/items/store.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { enqueueOnEnter, onEnterNote } from '#shared/features/queues/stages/on-enter.ts'
import { overloadedProblem } from '#shared/platform/db/database-errors.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Origin and defaults of added items. */
interface AddOptions {
  readonly source: ItemSource
  readonly stage?: string | null | undefined
  readonly batch?: string | null | undefined
  readonly note?: string | null | undefined
  readonly scan?: ScanFacts
  /** Whether an open key is added again; by default what the queue's settings say. */
  readonly allowsDuplicates?: boolean
  /** Intake only, parallel to the items: ids of the record changes, each of which creates at most one item. */
  readonly eventIds?: readonly string[]
}

/**
 * Adds up to 500 items to a queue. A key that is already open is left unchanged unless the queue allows duplicates
 * (docs/contract/queues.md#adding-items). Routes, SDK, flows, scans and intake all add through this function. Throws NOT_FOUND for an
 * unknown stage, VALIDATION_ERROR for an oversized payload and for a disabled queue.
 */
export async function addItems(scope: Scope, queue: Queue, items: readonly NewItem[], options: AddOptions): Promise<AddAnswer> {
  requireEnabled(queue)
  const sent = items.map((item, index) => buildRow(scope, queue, item, options, index))
  const runsOnEnter = [...new Set(sent.map(({ stage }) => stage))].some((key) => requireStage(queue, key).on_enter !== null)
  const added = runsOnEnter
    ? await scope.db.transaction((tx) => insertAndStart(within(scope, tx), queue, sent, options))
    : await insertAndStart(scope, queue, sent, options)
  const created = added.filter((one) => one.created).length
  return { created, duplicates: added.length - created, items: await buildAddedItems(scope, queue, added) }
}

/** Answer for added items; a duplicate hidden from the caller shows its key only. */
function buildAddedItems(scope: Scope, queue: Queue, added: readonly AddedRow[]): Promise<AddedItem[]> {
  const toAddedItem = ({ created, ord: _, ...item }: AddedRow): AddedItem => ({ ...item, duplicate: !created })
  const duplicates = added.flatMap(({ id, created }) => (created ? [] : [id]))
  if (duplicates.length === 0) return Promise.resolve(added.map(toAddedItem))
  return withItemAccess(scope, queue, async (itemAccess) => {
    if (!itemAccess) return added.map(toAddedItem)
    const parameters = { workspaceId: scope.workspace.id, queueId: queue.id, ids: duplicates }
    const rows = await scope.db.query(findAccessibleIds(itemAccess, parameters))
    const visible = new Set(rows.map(({ id }) => id))
    return added.map((row) =>
      row.created || visible.has(row.id) ? toAddedItem(row) : { ...toAddedItem(row), id: null, stage: null, status: null },
    )
  })
}

/** Items of a body, from `items` or `keys`; throws VALIDATION_ERROR when there are none or too many. */
export function readNewItems({ items, keys }: Pick<AddInput, 'items' | 'keys'>): readonly NewItem[] {
  if (items) return items
  if (!keys || keys.length === 0) throw problem('VALIDATION_ERROR', 'items or keys must be given')
  if (keys.length > queueLimits.itemsPerAdd) throw problem('VALIDATION_ERROR', `keys must have at most ${queueLimits.itemsPerAdd} items`)
  return keys.map((key) => ({ key }))
}

/** An item as the insert statement reads it. */
interface SentRow {
  readonly ord: number
  readonly key: string
  readonly stage: string
  readonly status: ItemStatus
  readonly batch: string
  readonly priority: number
  readonly record_id: string | null
  readonly assignee_id: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly event_id: string | null
  readonly note: string
}

function buildRow(scope: Scope, queue: Queue, item: NewItem, options: AddOptions, index: number): SentRow {
  // Checks the size only: the statement receives the whole row as JSON.
  serializePayload(item.payload, `items[${index}].payload`)
  const stageKey = item.stage ?? options.stage
  const stage = stageKey == null ? findStartStage(queue) : requireStage(queue, stageKey)
  return {
    ord: index,
    key: item.key,
    stage: stage.key,
    status: stage.kind === 'terminal' ? 'done' : 'open',
    batch: item.batch ?? options.batch ?? '',
    priority: item.priority ?? 0,
    record_id: item.record_id ?? null,
    assignee_id: item.assignee_id ?? '',
    payload: item.payload ?? {},
    event_id: options.eventIds?.[index] ?? null,
    note: onEnterNote(scope, stage, options.note ?? ''),
  }
}

/** The open item with the key of a sent item. */
interface AddedRow extends InsertedRow {
  readonly id: string
  readonly stage: string
  readonly status: ItemStatus
}

const isAdded = (row: InsertedRow): row is AddedRow => row.id !== null

/** Attempts to add a key that concurrent transactions keep adding and closing. */
const maxAttempts = 5

/** Inserts items and starts on_enter for the new ones. */
async function insertAndStart(scope: Scope, queue: Queue, sent: readonly SentRow[], options: AddOptions): Promise<AddedRow[]> {
  const { workspace, db } = scope
  const { source, scan, allowsDuplicates = queue.settings.allow_duplicates } = options
  const results: AddedRow[] = []
  let open = sent
  for (let attempt = 1; open.length > 0; attempt++) {
    const rows = await db.query(
      insertItems({
        ...announcedParams(scope, queue),
        ...(scan ?? noScanFacts),
        items: JSON.stringify(open),
        source,
        allowsDuplicates,
        verdict: scan ? 'created' : null,
      }),
    )
    const missing = rows.filter(({ id }) => id === null)
    results.push(...rows.filter(isAdded))
    if (rows.some(({ created }) => created)) wakeNumbering(scope, 'soon')
    // Intake does not try again: an item without an id was added before, for the same record change or by another transaction.
    if (missing.length === 0 || options.eventIds) break
    const keys = missing.map(({ key }) => key)
    const found = await db.query(findOpenItems({ workspaceId: workspace.id, queueId: queue.id, keys }))
    const byKey = new Map(found.map((row) => [row.key, row]))
    for (const { ord, key } of missing) {
      const openItem = byKey.get(key)
      if (openItem) results.push({ ...openItem, ord, created: false })
    }
    open = sent.filter(({ ord, key }) => missing.some((one) => one.ord === ord) && !byKey.has(key))
    if (attempt === maxAttempts && open.length > 0)
      throw overloadedProblem(`Other callers kept adding and closing the keys in ${queue.key}; try again soon`)
  }
  results.sort((one, other) => one.ord - other.ord)
  const entries = results.filter(({ created }) => created).map(({ id, stage }) => ({ itemId: id, from: null, to: stage }))
  await enqueueOnEnter(scope, queue, entries)
  return results
}
