import { everyMember, type Notice, notify } from '#shared/core/notifications/notify.ts'
import { type NoticeRule, readNoticeRules } from '#shared/core/notifications/rules.ts'
import { createStoredTest } from '#shared/core/records/query/filter.ts'
import type { Filter } from '#shared/core/records/query/filter-tree.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { readSnapshots, snapshotToRecord } from '#shared/core/records/snapshots.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

type DeliveryScope = Pick<PlatformScope, 'db' | 'cache'>

/**
 * Notifies everyone who was a member at the time of an event, once per rule that received it and whose filter its record matches. Idempotent,
 * so a worker stopped midway leaves nothing to clean up.
 */
export async function deliverNotices(scope: DeliveryScope, workspaceId: string, changes: readonly EventDelivery[]): Promise<void> {
  const { db } = scope
  const notices: Notice[] = []
  // One type at a time, so that the filters of all types are never held together.
  for (const ofType of Map.groupBy(changes, ({ objectType }) => objectType).values()) {
    const rules = await readNoticeRules(db, workspaceId, [...new Set(ofType.flatMap(({ listenerIds }) => listenerIds))])
    for (const change of ofType) notices.push(...(await buildNotices(scope, change, rules)))
  }
  await notify({ db, workspace: { id: workspaceId } }, everyMember, notices)
}

/**
 * One notice per event and rule. The listeners are those of the time of the change: none for a rule that is off or deleted by now, or of
 * another type or event.
 */
async function buildNotices(scope: DeliveryScope, delivery: EventDelivery, rules: ReadonlyMap<string, NoticeRule>): Promise<Notice[]> {
  const { objectType, event, entryIds, subjectIds, listenerIds } = delivery
  const fired = listenerIds.flatMap((listener) => {
    const rule = rules.get(listener)
    return rule?.objectType === objectType && rule.event === event ? [{ listener, title: rule.title, filter: rule.filter }] : []
  })
  const budget = computeBudget(scope.db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
  const testOf = fired.some(({ filter }) => filter) ? await createTests(scope, delivery) : undefined
  const notices: Notice[] = []
  for (const { listener, title, filter } of fired) {
    const matches = filter ? testOf?.(filter) : undefined
    for (const [index, entry] of entryIds.entries()) {
      await budget.pause()
      if (matches && !matches(entry)) continue
      const id = subjectIds[index]
      notices.push({ title, record: id === undefined ? null : { type: objectType, id }, event, key: { event: entry, listener } })
    }
  }
  return notices
}

/**
 * Gives the test of a filter on the records of a delivery's events, by the ids of the events: on a record as the change left it, and on a
 * deleted one as it was. An event from before the rule had a filter comes without its record: the present record is tested, and none passes
 * where it is deleted.
 */
async function createTests(
  { db, cache }: DeliveryScope,
  delivery: EventDelivery,
): Promise<(filter: Filter) => (entryId: string) => boolean> {
  const type = await findRecordType({ db, cache, workspace: { id: delivery.workspaceId } }, delivery.objectType)
  if (!type) return () => () => false
  const snapshots = await readSnapshots({ db }, delivery)
  const records = new Map(snapshots.map((snapshot) => [snapshot.entryId, snapshotToRecord(type, snapshot)]))
  if (snapshots.length === 0) {
    const present = new Map((await findRecordsByIds({ db }, type, delivery.subjectIds)).map((record) => [record.id, record]))
    for (const [index, entryId] of delivery.entryIds.entries()) {
      const record = present.get(delivery.subjectIds[index] ?? '')
      if (record) records.set(entryId, record)
    }
  }
  return (filter) => {
    const matches = createStoredTest(type, filter)
    return (entryId) => {
      const record = records.get(entryId)
      return record !== undefined && matches(record)
    }
  }
}
