import { fireRemindersJob as job } from '#shared/features/calendar/jobs.ts'
import { fireReminders } from '#shared/features/calendar/reminders/fire-reminders.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(job, async ({ payload, scope }) => {
  await fireReminders(scope, payload.calendarId)
  return { result: null }
})
