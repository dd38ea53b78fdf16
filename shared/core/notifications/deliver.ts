import { everyMember, type Notice, notify } from '#shared/core/notifications/notify.ts'
import { readRuleTitles } from '#shared/core/notifications/rules.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'

type Deliverer = Pick<PlatformScope, 'db' | 'cache'>

/**
 * Tells every member who was one at the time of an event, once for each rule that heard of it. Doing it again tells nobody twice, so a worker
 * that was stopped in between leaves nothing to clear up.
 */
export async function deliverNotices({ db, cache }: Deliverer, workspaceId: string, changes: readonly EventDelivery[]): Promise<void> {
  const titles = await readRuleTitles(cache, db, workspaceId)
  await notify(
    { db, workspace: { id: workspaceId } },
    everyMember,
    changes.flatMap((change) => noticesOf(change, titles)),
  )
}

/** One for each event and rule; a rule that is gone has nothing to say. */
const noticesOf = (
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
