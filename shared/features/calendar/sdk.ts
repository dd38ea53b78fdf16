import { defineSdkMethod, defineSdkQuery, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import { createEvent } from '#shared/features/calendar/events/create-event.ts'
import { listEvents } from '#shared/features/calendar/events/list-events.ts'
import { eventInput, eventView, listQuery } from '#shared/features/calendar/events/schemas.ts'

/** Calendars, under the rights of the run's caller. */
export const calendarMethods = restrictToApp('calendar', [
  defineSdkQuery(
    'calendar.events',
    '(query: { from: string; to: string; calendars?: string; invites?: "0" | "1" }): Promise<{ events: Record<string, unknown>[] }>',
    [['query', listQuery]],
    async ({ scope }, query) => {
      return listEvents(scope, query)
    },
  ),
  defineSdkMethod(
    'calendar.createEvent',
    '(event: { title: string; start: string; end?: string; calendar_id?: string; [key: string]: unknown }): Promise<Record<string, unknown>>',
    [['event', eventInput, eventView]],
    async ({ scope }, event) => {
      return createEvent(scope, event, { source: 'function' })
    },
  ),
])
