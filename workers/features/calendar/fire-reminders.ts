import { ringCalendar as job } from '#shared/features/calendar/jobs.ts'
import { ringCalendar } from '#shared/features/calendar/reminders/fire-reminders.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

export default handler(job, async ({ payload, scope }) => {
  await ringCalendar(scope, payload.calendarId)
  return { result: null }
})
