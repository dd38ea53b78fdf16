import { recordAccessFor } from '#shared/core/records/access.ts'
import { createRecordMatcher } from '#shared/core/records/query/match-records.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { type RecordSnapshot, readSnapshots, snapshotToRecord } from '#shared/core/records/snapshots.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { valueToCell } from '#shared/core/types/field-kinds/value.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { findReplacedValues } from '#shared/features/queues/intake/store.ts'
import { addItems } from '#shared/features/queues/items/add.ts'
import { moveItem } from '#shared/features/queues/items/move.ts'
import { findOpenOfRecords } from '#shared/features/queues/items/store.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'

/** Changes that are judged in one transaction, which locks their records meanwhile. */
const step = 100

/**
 * Adds an item for each record that a change made match a queue's filter, and cancels those of records that match no more where the queue
 * wants that, as the queue's last editor (decisions, Work queues). The change says what happened; whether it still holds is told from the
 * records as they are now, locked until the items are written, so that the last change of a record has the last word however the jobs of
 * several are done. A change makes one item at most, however often this is done.
 */
export async function applyRecordChanges(scope: Scope, queue: Queue, heard: EventDelivery): Promise<void> {
  const { intake, object_type, enabled } = queue
  if (!enabled || !intake.enabled || object_type !== heard.objectType) return
  const changes = await changesOf(scope, heard)
  for (let from = 0; from < changes.length; from += step) {
    const some = changes.slice(from, from + step)
    await scope.db.transaction((tx) => judge(within(scope, tx), queue, heard.event, some))
  }
}

/** A change of a record: the record as it was left, and what of it was other before. */
interface Change {
  readonly after: RecordSnapshot
  readonly before: Readonly<Record<string, unknown>>
}

async function changesOf(scope: Scope, heard: EventDelivery): Promise<Change[]> {
  const snapshots = await readSnapshots(scope, heard)
  const rows = heard.event === 'updated' ? await scope.db.query<BeforeRow>(findReplacedValues(scope.workspace.id, heard.entryIds)) : []
  const before = new Map(rows.map((row) => [row.id, row.before ?? {}]))
  return snapshots.map((after) => ({ after, before: before.get(after.entryId) ?? {} }))
}

interface BeforeRow {
  readonly id: string
  readonly before: Readonly<Record<string, unknown>> | null
}

async function judge(scope: Scope, queue: Queue, event: string, changes: readonly Change[]): Promise<void> {
  const type = await findRecordType(scope, queue.object_type ?? '')
  if (!type) return
  const matches = createRecordMatcher(type, recordAccessFor(scope, type, 'records:read'), queue.intake.filter)
  const ids = [...new Set(changes.map(({ after }) => after.id))].sort()
  const records = new Map((await findRecordsByIds(scope, type, ids, { lock: true })).map((record) => [record.id, record]))
  const matching = new Set(ids.filter((id) => records.has(id) && matches(records.get(id) as StoredRecord)))
  const made =
    event === 'deleted' ? [] : changes.filter((change) => matching.has(change.after.id) && madeMatch(type, event, change, matches))
  if (made.length > 0) await add(scope, queue, type, made, records)
  if (queue.intake.close_on_unmatch) {
    await cancel(
      scope,
      queue,
      ids.filter((id) => !matching.has(id)),
    )
  }
}

/** Whether the record matches as the change left it and did not before: a change of something else makes nothing match. */
function madeMatch(type: RecordType, event: string, { after, before }: Change, matches: (record: StoredRecord) => boolean): boolean {
  if (!matches(snapshotToRecord(type, after))) return false
  return event === 'created' || !matches(snapshotToRecord(type, { ...after, values: { ...after.values, ...before } }))
}

async function add(
  scope: Scope,
  queue: Queue,
  type: RecordType,
  changes: readonly Change[],
  records: ReadonlyMap<string, StoredRecord>,
): Promise<void> {
  const latest = [...new Map(changes.map((change) => [change.after.id, change])).values()]
  const field = queue.intake.key_field === null ? undefined : type.fieldByKey.get(queue.intake.key_field)
  const access = recordAccessFor(scope, type, 'records:read')
  const items = latest.map(({ after: { id } }) => {
    const record = records.get(id)
    // Rights of now: the field may have been hidden from the editor since the queue was saved.
    const isSeen = field !== undefined && record !== undefined && access.visibleFields(record).has(field.key)
    const value = isSeen ? valueToCell(record.values[field.key] ?? null, field).trim() : ''
    const key = value === '' ? id : [...value].slice(0, queueLimits.keyCharacters).join('')
    return { key, record_id: id, stage: queue.intake.stage }
  })
  // A key that is open stays as it is, also where others may add it twice.
  await addItems(scope, { ...queue, settings: { ...queue.settings, allow_duplicates: false } }, items, {
    source: 'intake',
    eventIds: latest.map(({ after }) => after.entryId),
  })
}

async function cancel(scope: Scope, queue: Queue, recordIds: readonly string[]): Promise<void> {
  if (recordIds.length === 0) return
  const open = await scope.db.query<{ id: string; stage: string }>(findOpenOfRecords(scope.workspace.id, queue.id, recordIds))
  for (const { id, stage } of open) {
    const to = { ...requireStage(queue, stage), from: [], wip_limit: 0, record_patch: null, on_enter: null }
    await moveItem(scope, queue, id, { to, status: 'cancelled', kind: 'cancelled', note: 'The record matches no more' })
  }
}
