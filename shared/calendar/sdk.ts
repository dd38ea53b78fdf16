import { createEvent } from '#shared/calendar/create-event.ts'
import { eventInput, listQuery } from '#shared/calendar/event-schemas.ts'
import { listEvents } from '#shared/calendar/list-events.ts'
import { ofApp, sdkMethod, sdkQuery } from '#shared/functions/sdk/method.ts'

/** Calendars, under the rights of the run's caller. */
export const calendarMethods = ofApp('calendar', [
  sdkQuery(
    'calendar.events',
    '(query: { from: string; to: string; calendars?: string; invites?: "0" | "1" }): Promise<{ events: Record<string, unknown>[] }>',
    [['query', listQuery]],
    async ({ scope }, query) => {
      return listEvents(scope, query)
    },
  ),
  sdkMethod(
    'calendar.createEvent',
    '(event: { title: string; start: string; end?: string; calendar_id?: string; [key: string]: unknown }): Promise<Record<string, unknown>>',
    [['event', eventInput]],
    async ({ scope }, event) => {
      return createEvent(scope, event, { source: 'function' })
    },
  ),
])
