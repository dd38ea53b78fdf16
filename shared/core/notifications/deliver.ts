import { everyMember, type Notice, notify } from '#shared/core/notifications/notify.ts'
import { readRuleTitles } from '#shared/core/notifications/rules.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'

type DeliveryScope = Pick<PlatformScope, 'db' | 'cache'>

/**
 * Notifies everyone who was a member at the time of an event, once per rule that received it. Idempotent, so a worker stopped midway leaves
 * nothing to clean up.
 */
export async function deliverNotices({ db, cache }: DeliveryScope, workspaceId: string, changes: readonly EventDelivery[]): Promise<void> {
  const titles = await readRuleTitles(cache, db, workspaceId)
  await notify(
    { db, workspace: { id: workspaceId } },
    everyMember,
    changes.flatMap((change) => buildNotices(change, titles)),
  )
}

/** One notice per event and rule; none for a deleted rule. */
const buildNotices = (
  { objectType, event, entryIds, subjectIds, listenerIds }: EventDelivery,
  titles: ReadonlyMap<string, string>,
): Notice[] =>
  listenerIds.flatMap((listener) => {
    const title = titles.get(listener)
    if (title === undefined) return []
    return entryIds.map((entry, index) => {
      const id = subjectIds[index]
      return { title, record: id === undefined ? null : { type: objectType, id }, event, key: { event: entry, listener } }
    })
  })
