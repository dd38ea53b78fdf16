import { createEvent } from '#shared/calendar/create-event.ts'
import { eventInput, listQuery } from '#shared/calendar/event-schemas.ts'
import { listEvents } from '#shared/calendar/list-events.ts'
import { type SdkMethod, sdkMethod, sdkQuery } from '#shared/functions/sdk/method.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** While the app is off its methods find nothing (decisions, In the background). */
function requireApp({ workspace }: Scope): void {
  if (!workspace.apps.calendar) throw problem('NOT_FOUND')
}

/** Calendars, under the rights of the run's caller. */
export const calendarMethods: readonly SdkMethod[] = [
  sdkQuery(
    'calendar.events',
    '(query: { from: string; to: string; calendars?: string; invites?: "0" | "1" }): Promise<{ events: Record<string, unknown>[] }>',
    [['query', listQuery]],
    async ({ scope }, query) => {
      requireApp(scope)
      return listEvents(scope, query)
    },
  ),
  sdkMethod(
    'calendar.createEvent',
    '(event: { title: string; start: string; end?: string; calendar_id?: string; [key: string]: unknown }): Promise<Record<string, unknown>>',
    [['event', eventInput]],
    async ({ scope }, event) => {
      requireApp(scope)
      return createEvent(scope, event, { source: 'function' })
    },
  ),
]
