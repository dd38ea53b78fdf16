import { fireRemindersJob } from '#shared/features/calendar/jobs.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'

/** Due kind of a calendar's next check for reminders and for flows that start some minutes before an event. */
export const calendarDue = defineDue({
  name: 'calendar',
  job: fireRemindersJob,
  payload: ({ subject, at }) => ({ calendarId: subject, at }),
})
