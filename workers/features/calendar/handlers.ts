import type { feature } from '#shared/features/calendar/feature.ts'
import exportCalendar from '#workers/features/calendar/export.ts'
import fireReminders from '#workers/features/calendar/fire-reminders.ts'
import importCalendar from '#workers/features/calendar/import.ts'
import mailGuests from '#workers/features/calendar/mail-guests.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  mailGuests,
  fireReminders,
  importCalendar,
  exportCalendar,
} satisfies HandlersOf<typeof feature.jobs>
