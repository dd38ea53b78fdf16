import type { EventFamily, EventType } from '#shared/core/events/event-type.ts'
import { eventStatuses, guestAnswers } from '#shared/features/calendar/events/schemas.ts'
import { prepareCalendarEvents } from '#shared/features/calendar/listed-events/show-events.ts'
import { nullable, t, uuid } from '#shared/platform/kernel/schema.ts'

const subject = t.Object(
  { calendar: uuid, id: t.String({ format: 'uuid', description: 'Of the calendar event.' }) },
  { title: 'CalendarEventSubject' },
)

const time = 'An RFC 3339 instant, or YYYY-MM-DD for an all-day event; of a series that of its first occurrence.'
const times = { start: t.String({ description: time }), end: t.String({ description: time }), all_day: t.Boolean() }
const details = {
  title: t.Optional(t.String({ description: 'Left out, as all that follows, for who sees busy times only.' })),
  status: t.Optional(t.Enum([...eventStatuses])),
  series_id: t.Optional(nullable(t.String({ format: 'uuid', description: 'Of a changed or cancelled occurrence: its series.' }))),
  original_start: t.Optional(nullable(t.String({ description: 'Of a changed or cancelled occurrence: its start in the series.' }))),
}
const guest = t.Object(
  { id: t.String({ format: 'uuid', description: 'Of the guest in this event.' }), status: t.Enum([...guestAnswers]) },
  { title: 'AnsweringGuest' },
)

const common = { permission: 'calendar:read', subject } as const
const data = t.Object({ ...times, ...details }, { title: 'CalendarEventData' })
const review = {
  start: '2026-12-01T09:00:00.000000Z',
  end: '2026-12-01T10:00:00.000000Z',
  all_day: false,
  title: 'Review of the year',
  status: 'confirmed',
  series_id: null,
  original_start: null,
}
const ids = { calendar: '01a19bf7-6a53-7c1b-8b5e-90e2f6c7d3a4', id: '01a1a388-04d1-7f3e-b7f0-2f4d1c9b6e58' }
const example = { subject: ids, data: review }

const types: readonly EventType[] = [
  {
    ...common,
    type: 'calendar.event.created',
    description: 'An event was put into a calendar, also by a booking or an import; the later part of a series that was split.',
    data,
    example,
  },
  {
    ...common,
    type: 'calendar.event.updated',
    description: 'An event, a series or one occurrence changed, also the calendar that it is in.',
    data,
    example,
  },
  {
    ...common,
    type: 'calendar.event.cancelled',
    description: 'An event, a series or one occurrence was cancelled or deleted, also with its calendar.',
    data,
    example: { subject: ids, data: { ...review, status: 'cancelled' } },
  },
  {
    ...common,
    type: 'calendar.event.answered',
    description: 'The answer of a guest changed.',
    data: t.Object({ ...times, ...details, guest: t.Optional(guest) }, { title: 'CalendarAnswerData' }),
    example: { subject: ids, data: { ...review, guest: { id: '01a1a388-04d2-7a60-9d3c-5b8e7f1a2c94', status: 'accepted' } } },
  },
  {
    ...common,
    type: 'calendar.booked',
    description: 'A visitor booked a time; follows `calendar.event.created` of the event.',
    data,
    example,
  },
]

export const calendarEvents: EventFamily = { app: 'calendar', types, prepare: prepareCalendarEvents }
