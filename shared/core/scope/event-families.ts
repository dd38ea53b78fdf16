import type { StoredEvent } from '#shared/platform/events/feed-store.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import type { ActorType, CauseKind } from '#shared/platform/kernel/cause.ts'

/** What a reader sees of an event besides its number, id, type and time. */
export interface EventView {
  readonly actor: { readonly id: string | null; readonly type: ActorType }
  readonly cause: { readonly kind: CauseKind; readonly id: string | null }
  readonly subject: Readonly<Record<string, unknown>>
  readonly data: Readonly<Record<string, unknown>>
}

/** The families of types of events (shared/core/events/event-type.ts), as services hold them. `S` is the scope of a reader. */
export type EventFamilies<S> = readonly {
  readonly app?: AppName
  readonly types: readonly { readonly type: string }[]
  readonly prepare: (scope: S, events: readonly StoredEvent[]) => Promise<(event: StoredEvent) => Promise<EventView | undefined>>
}[]
