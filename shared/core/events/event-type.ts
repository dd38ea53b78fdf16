import type { EventView } from '#shared/core/scope/event-families.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** What a reader sees of an event besides its number, id, type and time. */
export type ShownEvent = EventView

/** Shows an event to the caller; undefined for one that it may not read. */
export type ShowEvent = (event: StoredEvent) => Promise<ShownEvent | undefined>

/** The declaration of a type of events, from which lists of types, the API's description and the reading of events are made. */
export interface EventType {
  readonly type: string
  readonly description: string
  /** What reading it takes, such as `forms:manage`. */
  readonly permission: string
  readonly subject: Schema<unknown>['json']
  readonly data: Schema<unknown>['json']
  readonly example: { readonly subject: Readonly<Record<string, unknown>>; readonly data: Readonly<Record<string, unknown>> }
}

/** Prepares showing events to one of their readers. */
export type SharedEvents = (scope: Scope) => Promise<ShowEvent>

/** Types of events that are shown in one way. */
export interface EventFamily {
  /** The app whose events they are: while it is off, they are shown to nobody. Left out for those of no app. */
  readonly app?: AppName
  readonly types: readonly EventType[]
  /** Prepares showing some events of these types to the caller, in their order; each may be shown once, and not all need be. */
  readonly prepare: (scope: Scope, events: readonly StoredEvent[]) => Promise<ShowEvent>
  /**
   * The same for several readers, where what showing the events takes besides rights is read once for all of them. Each event is shown to
   * all its readers before the next one.
   */
  readonly share?: (source: Pick<Scope, 'db' | 'workspace'>, events: readonly StoredEvent[]) => SharedEvents
}
