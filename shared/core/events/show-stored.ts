import type { EventFamily, EventType, ShownEvent } from '#shared/core/events/event-type.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import { completeCause } from '#shared/platform/kernel/cause.ts'

/** An event as it is stored, with its cause and subject, for a caller who may read all of it. */
export function showStored({ cause, subject, data }: StoredEvent): ShownEvent | undefined {
  if (!cause || !subject) return undefined
  const { actorId, actorType, kind, id } = completeCause(cause)
  return { actor: { id: actorId, type: actorType }, cause: { kind, id }, subject, data: data ?? {} }
}

/** A family of events, of an app or of none, that are shown whole to who has a permission on everything, and to nobody else. */
export const defineEvents = (permission: Permission, types: readonly Omit<EventType, 'permission'>[], app?: AppName): EventFamily => ({
  ...(app && { app }),
  types: types.map((type) => ({ ...type, permission })),
  prepare: async (scope) => async (event) => (permits(scope, permission) ? showStored(event) : undefined),
})
