import { bookingWeekdays } from '#shared/features/calendar/schemas.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** Settings of a page that can be booked for any half hour of the next 60 days. */
export const booking = {
  enabled: true,
  durations: [30],
  min_notice: 0,
  horizon_days: 60,
  hours: Object.fromEntries(bookingWeekdays.map((day) => [day, [['00:00', '24:00']]])),
}

/** The date after this many days. */
export const dayOf = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)

/** The path of all slots of such a page. */
export const slotsPath = (workspaceId: string, key: string): string =>
  `/cal/${workspaceId}/book/${key}/slots?from=${dayOf(0)}&to=${dayOf(60)}`
