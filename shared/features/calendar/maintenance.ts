import { rederiveTimes } from '#shared/features/calendar/zones/rederive.ts'
import { type CleanupServices, defineCleanup } from '#shared/platform/db/old-rows.ts'
import type { PlatformServices } from '#shared/platform/jobs/job-scope.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

export const calendarMaintenance: readonly MaintenanceTask<CleanupServices & Pick<PlatformServices, 'jobQueue'>>[] = [
  // A member who returns within 30 days gets the calendars back (docs/contract/calendar.md#members-who-leave).
  defineCleanup('sweep_left_calendars', {
    table: 'calendars',
    old: 'left_at < $before',
    by: 'left_at',
    keptDays: 30,
    everyMinutes: 60,
    batch: 20,
  }),
  defineCleanup('sweep_calendar_mail_counts', {
    table: 'calendar_mail_counts',
    old: 'day < $before::timestamptz::date',
    by: 'day',
    keptDays: 2,
    everyMinutes: 60,
  }),
  {
    name: 'times by new time zone data',
    everySeconds: 600,
    run: rederiveTimes,
  },
]
