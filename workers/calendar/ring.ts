import { ringCalendar as job } from '#shared/calendar/jobs.ts'
import { ringCalendar } from '#shared/calendar/ring.ts'
import { handler } from '#workers/handler.ts'

export default handler(job, async ({ payload, scope }) => {
  await ringCalendar(scope, payload.calendarId)
  return { result: null }
})
