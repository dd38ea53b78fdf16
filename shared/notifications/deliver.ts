import type { Executor } from '#shared/db/database.ts'
import type { HeardChanges } from '#shared/events/change.ts'
import { deliverItems } from '#shared/notifications/store.ts'

/** Items that one statement writes, about: members are taken so many at a time, one at least. */
const itemsPerStatement = 10_000

const lowestId = '00000000-0000-0000-0000-000000000000'

/**
 * Puts one item for every event and rule into the inbox of every member who was one at the time of the event. Doing it again adds none,
 * so a worker that was stopped in between leaves nothing to clear up.
 */
export async function deliver(db: Executor, workspaceId: string, changes: readonly HeardChanges[]): Promise<void> {
  const heard = changes.flatMap(({ entryIds, listenerIds }) => entryIds.flatMap((entry) => listenerIds.map((rule) => ({ entry, rule }))))
  const [entries, rules] = [heard.map(({ entry }) => entry), heard.map(({ rule }) => rule)]
  const members = Math.max(1, Math.floor(itemsPerStatement / heard.length))
  let after: string | undefined = lowestId
  while (after !== undefined) {
    const [last]: { user_id: string }[] = await db.query(deliverItems(workspaceId, entries, rules, after, members))
    after = last?.user_id
  }
}
