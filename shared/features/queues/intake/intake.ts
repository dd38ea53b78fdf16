import { recordAccessFor } from '#shared/core/records/access.ts'
import { createRecordMatcher } from '#shared/core/records/query/filter.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { beforeChange, type RecordChange, readChanges, snapshotToRecord } from '#shared/core/records/snapshots.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { valueToCell } from '#shared/core/types/field-kinds/value.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { addItems } from '#shared/features/queues/items/add.ts'
import { cancelItem } from '#shared/features/queues/items/move.ts'
import { findOpenItemsOfRecords } from '#shared/features/queues/items/store.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Record changes applied per transaction, which locks these records. */
const batchSize = 100

/**
 * Adds an item for each record that began to match the queue's filter by this change; with `close_on_unmatch` it also cancels the items of
 * records that no longer match. Acts with the rights of the queue's last editor (docs/contract/queues.md#intake). The present records
 * decide whether the change still applies; they stay locked until the items are written, so the result does not depend on the order of the
 * jobs. A change adds at most one item, even when the job is repeated.
 */
export async function applyRecordChanges(scope: Scope, queue: Queue, delivery: EventDelivery): Promise<void> {
  const { intake, object_type, enabled } = queue
  if (!enabled || !intake.enabled || object_type !== delivery.objectType) return
  const changes = await readChanges(scope, delivery)
  for (let from = 0; from < changes.length; from += batchSize) {
    const batch = changes.slice(from, from + batchSize)
    await scope.db.transaction((tx) => applyBatch(within(scope, tx), queue, delivery.event, batch))
  }
}

async function applyBatch(scope: Scope, queue: Queue, event: string, changes: readonly RecordChange[]): Promise<void> {
  const type = await findRecordType(scope, queue.object_type ?? '')
  if (!type) return
  const matches = createRecordMatcher(type, recordAccessFor(scope, type, 'records:read'), queue.intake.filter)
  const ids = [...new Set(changes.map(({ after }) => after.id))].sort()
  const records = new Map((await findRecordsByIds(scope, type, ids, { lock: true })).map((record) => [record.id, record]))
  const matching = new Set(ids.filter((id) => records.has(id) && matches(records.get(id) as StoredRecord)))
  const matched =
    event === 'deleted' ? [] : changes.filter((change) => matching.has(change.after.id) && causedMatch(type, event, change, matches))
  if (matched.length > 0) await addForChanges(scope, queue, type, matched, records)
  if (queue.intake.close_on_unmatch) {
    await cancelItems(
      scope,
      queue,
      ids.filter((id) => !matching.has(id)),
    )
  }
}

/** Whether the record matches after the change and did not before; changes of unrelated fields cause no match. */
function causedMatch(type: RecordType, event: string, change: RecordChange, matches: (record: StoredRecord) => boolean): boolean {
  if (!matches(snapshotToRecord(type, change.after))) return false
  return event === 'created' || !matches(beforeChange(type, change))
}

async function addForChanges(
  scope: Scope,
  queue: Queue,
  type: RecordType,
  changes: readonly RecordChange[],
  records: ReadonlyMap<string, StoredRecord>,
): Promise<void> {
  const latest = [...new Map(changes.map((change) => [change.after.id, change])).values()]
  const field = queue.intake.key_field === null ? undefined : type.fieldByKey.get(queue.intake.key_field)
  const access = recordAccessFor(scope, type, 'records:read')
  const items = latest.map(({ after: { id } }) => {
    const record = records.get(id)
    // The editor's present rights count: the field may have been hidden from the editor since the queue was saved.
    const isVisible = field !== undefined && record !== undefined && access.visibleFields(record).has(field.key)
    const value = isVisible ? valueToCell(record.values[field.key] ?? null, field).trim() : ''
    const key = value === '' ? id : cutText(value, queueLimits.keyCharacters)
    return { key, record_id: id, stage: queue.intake.stage }
  })
  const eventIds = latest.map(({ after }) => after.entryId)
  await addItems(scope, queue, items, { source: 'intake', eventIds, allowsDuplicates: false })
}

async function cancelItems(scope: Scope, queue: Queue, recordIds: readonly string[]): Promise<void> {
  if (recordIds.length === 0) return
  const open = await scope.db.query(findOpenItemsOfRecords({ workspaceId: scope.workspace.id, queueId: queue.id, recordIds }))
  for (const item of open) await cancelItem(scope, queue, item, 'The record no longer matches the filter, or was deleted')
}
