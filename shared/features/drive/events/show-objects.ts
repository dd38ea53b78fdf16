import type { ShowEvent, ShownEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { accessByRoleOrOwnership, accessByShares } from '#shared/features/drive/access.ts'
import { findSharedPrefixes } from '#shared/features/drive/events/store.ts'
import { prefixesOf } from '#shared/features/drive/objects/key.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'

/** Whether the caller may read a key of a space now. */
type MayRead = (key: string) => boolean

/**
 * Prepares showing events of files to who may read their key now (docs/contract/drive.md#access). A move is shown as far as the caller may
 * read both keys. Events of a space that is gone, or whose owner left, are shown to nobody.
 */
export async function prepareObjectEvents(scope: Scope, events: readonly StoredEvent[]): Promise<ShowEvent> {
  const { workspace, actor } = scope
  const ids = [...new Set(events.map(({ topic }) => topic))]
  const spaces = await readRows(scope, findSharedPrefixes({ workspaceId: workspace.id, ids, personId: actor.personId }))
  const readers = new Map(
    spaces.map((space): [string, MayRead] => {
      if (accessByRoleOrOwnership(scope, space).read) return [space.id, () => true]
      const prefixes = new Set(accessByShares(scope, space, ['view']).read ? space.prefixes : [])
      return [space.id, (key) => prefixes.size > 0 && prefixesOf(key).some((prefix) => prefixes.has(prefix))]
    }),
  )
  return async (event) => {
    const mayRead = readers.get(event.topic)
    const shown = mayRead && showStored(event)
    if (!shown) return undefined
    if (event.type === 'drive.object.moved') return showMove(shown, mayRead)
    return mayRead(String(shown.subject.key)) ? shown : undefined
  }
}

/** A move as a caller sees it who may read its keys: `left` names the old key alone, `entered` the new one alone. */
function showMove({ actor, cause, subject, data }: ShownEvent, mayRead: MayRead): ShownEvent | undefined {
  const { from, size, content_type } = data
  const [key, origin] = [String(subject.key), String(from)]
  const [readsNew, readsOld] = [mayRead(key), mayRead(origin)]
  if (!readsNew && !readsOld) return undefined
  const view = !readsOld ? 'entered' : readsNew ? 'changed' : 'left'
  return {
    actor,
    cause,
    subject: { space: subject.space, key: readsNew ? key : origin },
    data: { view, from: view === 'changed' ? origin : null, size, content_type },
  }
}
