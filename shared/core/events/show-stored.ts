import type { ShownEvent } from '#shared/core/events/event-type.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'
import { completeCause } from '#shared/platform/kernel/cause.ts'

/** An event as it is stored, with its cause and subject, for a caller who may read all of it. */
export function showStored({ cause, subject, data }: StoredEvent): ShownEvent | undefined {
  if (!cause || !subject) return undefined
  const { actorId, actorType, kind, id } = completeCause(cause)
  return { actor: { id: actorId, type: actorType }, cause: { kind, id }, subject, data: data ?? {} }
}
