import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireEnabled, requireQueueByKey, serializePayload } from '#shared/features/queues/definitions/load.ts'
import { findStartStage, requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { insertItems as addStatement, findOpenItems } from '#shared/features/queues/items/add-store.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { AddAnswer, AddedItem, AddInput, ItemSource, ItemStatus, NewItem } from '#shared/features/queues/items/schemas.ts'
import { findAccessibleIds } from '#shared/features/queues/items/store.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { enqueueOnEnter, onEnterNote } from '#shared/features/queues/stages/on-enter.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** What of a scan stands in the entry of the item that it made. */
export interface ScanFacts {
  readonly scanId: string | null
  readonly scannedAt: string | null
  readonly station: string | null
}

/** How items come in. */
interface Way {
  readonly source: ItemSource
  readonly stage?: string | null | undefined
  readonly batch?: string | null | undefined
  readonly note?: string | null | undefined
  readonly scan?: ScanFacts
  /** Of intake, by the place of the item: the changes of records that make them, each of which makes one at most. */
  readonly eventIds?: readonly string[]
}

/**
 * Adds items to a queue, up to 500. A key that is open already is left alone unless the queue allows duplicates (document 2, POST items
 * body). The one door for whatever adds: routes, SDK, flows, scans and intake. Throws NOT_FOUND for a stage that the queue does not have,
 * VALIDATION_ERROR for a payload that is too large and for a queue that is not enabled.
 */
export async function addItems(scope: Scope, queue: Queue, items: readonly NewItem[], way: Way): Promise<AddAnswer> {
  requireEnabled(queue)
  const sent = items.map((item, index) => rowOf(scope, queue, item, way, index))
  const entered = [...new Set(sent.map(({ stage }) => stage))].some((key) => requireStage(queue, key).on_enter !== null)
  const added = entered
    ? await scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const rows = await insert(inside, queue, sent, way)
        await enqueueOnEnter(
          inside,
          queue,
          rows.filter(({ created }) => created).map(({ id, stage }) => ({ itemId: id, from: null, to: stage })),
        )
        return rows
      })
    : await insert(scope, queue, sent, way)
  const created = added.filter((one) => one.created).length
  return {
    created,
    duplicates: added.length - created,
    items: await answersOf(scope, queue, added),
  }
}

/** What the caller is told of items; of a duplicate that is hidden from it, the key alone. */
function answersOf(scope: Scope, queue: Queue, added: readonly AddedRow[]): Promise<AddedItem[]> {
  const told = ({ created, ord: _, ...item }: AddedRow): AddedItem => ({ ...item, duplicate: !created })
  const duplicates = added.flatMap(({ id, created }) => (created ? [] : [id]))
  if (duplicates.length === 0) return Promise.resolve(added.map(told))
  return withItemAccess(scope, queue, async (sight) => {
    if (!sight) return added.map(told)
    const rows = await scope.db.query<{ id: string }>(findAccessibleIds(sight, scope.workspace.id, queue.id, duplicates))
    const seen = new Set(rows.map(({ id }) => id))
    return added.map((row) => (row.created || seen.has(row.id) ? told(row) : { ...told(row), id: null, stage: null, status: null }))
  })
}

/** Items by the queue's key, as functions and flows add them. Throws NOT_FOUND; FORBIDDEN is the caller's to ask. */
export async function enqueueItems(scope: Scope, queueKey: string, items: readonly NewItem[]): Promise<AddAnswer> {
  return addItems(scope, await requireQueueByKey(scope, queueKey), items, { source: 'function' })
}

/** The items that a body names, as list or as keys; throws VALIDATION_ERROR when it names none or too many. */
export function readNewItems({ items, keys }: Pick<AddInput, 'items' | 'keys'>): readonly NewItem[] {
  if (items) return items
  if (!keys || keys.length === 0) throw problem('VALIDATION_ERROR', 'items or keys must be given')
  if (keys.length > queueLimits.itemsPerAdd) throw problem('VALIDATION_ERROR', `keys must have at most ${queueLimits.itemsPerAdd} items`)
  return keys.map((key) => ({ key }))
}

/** An item as the statement takes it. */
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

function rowOf(scope: Scope, queue: Queue, item: NewItem, way: Way, index: number): SentRow {
  // As it stands in the statement's text, its size is that of what is stored.
  serializePayload(item.payload, `items[${index}].payload`)
  const stageKey = item.stage ?? way.stage
  const stage = stageKey == null ? findStartStage(queue) : requireStage(queue, stageKey)
  return {
    ord: index,
    key: item.key,
    stage: stage.key,
    status: stage.kind === 'terminal' ? 'done' : 'open',
    batch: item.batch ?? way.batch ?? '',
    priority: item.priority ?? 0,
    record_id: item.record_id ?? null,
    assignee_id: item.assignee_id ?? '',
    payload: item.payload ?? {},
    event_id: way.eventIds?.[index] ?? null,
    note: onEnterNote(scope, stage, way.note ?? ''),
  }
}

interface AddedRow {
  readonly ord: number
  readonly id: string
  readonly key: string
  readonly stage: string
  readonly status: ItemStatus
  readonly created: boolean
}

/** How often keys are looked at again that somebody else was adding, or closing, at the same moment. */
const maxLooks = 5

async function insert(scope: Scope, queue: Queue, sent: readonly SentRow[], way: Way): Promise<AddedRow[]> {
  const done: AddedRow[] = []
  let open = sent
  for (let look = 1; open.length > 0; look++) {
    const rows = await scope.db.query<AddedRow>(statementOf(scope, queue, open, way))
    const missing = rows.filter(({ id }) => id === null)
    done.push(...rows.filter(({ id }) => id !== null))
    // What is missing of intake's was made by its change before.
    if (missing.length === 0 || way.eventIds) break
    const found = await scope.db.query<Omit<AddedRow, 'ord' | 'created'>>(
      findOpenItems(
        scope.workspace.id,
        queue.id,
        missing.map(({ key }) => key),
      ),
    )
    const byKey = new Map(found.map((row) => [row.key, row]))
    for (const { ord, key } of missing) {
      const held = byKey.get(key)
      if (held) done.push({ ...held, ord, created: false })
    }
    open = sent.filter(({ ord, key }) => missing.some((one) => one.ord === ord) && !byKey.has(key))
    if (look === maxLooks && open.length > 0) throw problem('INTERNAL', undefined, { cause: new Error('keys of a queue keep changing') })
  }
  return done.sort((one, other) => one.ord - other.ord)
}

function statementOf({ workspace, cause, now }: Scope, queue: Queue, sent: readonly SentRow[], way: Way) {
  const { scan } = way
  return addStatement(
    ...[workspace.id, queue.id, JSON.stringify(sent), way.source, queue.settings.allow_duplicates, toInstant(now())],
    ...[cause.actorId, cause.actorId === null ? 'system' : cause.actorType, scan ? 'created' : null],
    ...[scan?.scanId ?? null, scan?.scannedAt ?? null, scan?.station ?? null],
  )
}
