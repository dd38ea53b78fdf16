import type { EventFamily, SharedEvents, ShowEvent } from '#shared/core/events/event-type.ts'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import type { EventFamilies } from '#shared/core/scope/event-families.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'

/** Shows an event as its reader gets it; undefined for one that it may not read. */
export type ShowWhole = (event: StoredEvent) => Promise<WorkspaceEvent | undefined>

/** Prepares showing some events to the caller, in their order, each as its family does. */
export const prepareEvents = (scope: Scope, families: EventFamilies<Scope>, events: readonly StoredEvent[]): Promise<ShowWhole> =>
  joinFamilies(
    families,
    events,
    ({ prepare }, ofFamily) =>
      (reader) =>
        prepare(reader, ofFamily),
  )(scope)

/** The same for several readers (see `EventFamily.share`). */
export const shareEvents = (
  source: Pick<Scope, 'db' | 'workspace'>,
  families: readonly EventFamily[],
  events: readonly StoredEvent[],
): ((scope: Scope) => Promise<ShowWhole>) =>
  joinFamilies(
    families,
    events,
    ({ share, prepare }, ofFamily) => share?.(source, ofFamily) ?? ((reader: Scope) => prepare(reader, ofFamily)),
  )

function joinFamilies<Family extends EventFamilies<Scope>[number]>(
  families: readonly Family[],
  events: readonly StoredEvent[],
  sharedOf: (family: Family, ofFamily: readonly StoredEvent[]) => SharedEvents,
): (scope: Scope) => Promise<ShowWhole> {
  const parts = families.flatMap((family) => {
    const names = new Set(family.types.map(({ type }) => type))
    const ofFamily = events.filter(({ type }) => names.has(type))
    return ofFamily.length > 0 ? [{ app: family.app, names, prepareFor: sharedOf(family, ofFamily) }] : []
  })
  return async (scope) => {
    const showByType = new Map<string, ShowEvent>()
    for (const { app, names, prepareFor } of parts) {
      if (app !== undefined && !scope.workspace.apps[app]) continue
      const show = await prepareFor(scope)
      for (const name of names) showByType.set(name, show)
    }
    return async (event) => {
      const shown = await showByType.get(event.type)?.(event)
      if (!shown) return undefined
      const { actor, cause, subject, data } = shown
      return { seq: event.seq, id: event.id, type: event.type, at: event.at, actor, cause, subject, data }
    }
  }
}
