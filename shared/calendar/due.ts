import { ringCalendar } from '#shared/calendar/jobs.ts'
import { defineDue } from '#shared/due/kind.ts'

/** A calendar looks at what lies ahead of it: reminders and flows that start so many minutes before an event. */
export const calendarDue = defineDue({
  name: 'calendar',
  job: ringCalendar,
  payload: ({ subject, at }) => ({ calendarId: subject, at }),
})
