import type { Feature } from '#shared/core/automation/feature.ts'
import { feedSecrets } from '#shared/features/calendar/calendars/store.ts'
import { guestTokens } from '#shared/features/calendar/guests/store.ts'
import { exportCalendarJob, fireRemindersJob, importCalendarJob, mailGuestsJob } from '#shared/features/calendar/jobs.ts'
import { calendarEvents } from '#shared/features/calendar/listed-events/event-types.ts'
import { calendarMaintenance } from '#shared/features/calendar/maintenance.ts'
import { calendarDue } from '#shared/features/calendar/reminders/due.ts'
import { calendarMethods } from '#shared/features/calendar/sdk.ts'
import { calendarMetrics } from '#shared/features/calendar/zones/metrics.ts'

export const feature = {
  jobs: {
    mailGuests: mailGuestsJob,
    fireReminders: fireRemindersJob,
    importCalendar: importCalendarJob,
    exportCalendar: exportCalendarJob,
  },
  dueKinds: [calendarDue],
  maintenance: calendarMaintenance,
  events: [calendarEvents],
  sdkMethods: calendarMethods,
  metrics: calendarMetrics,
  sealed: [feedSecrets, guestTokens],
} satisfies Feature
