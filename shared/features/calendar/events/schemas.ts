import { flag, reminderList } from '#shared/features/calendar/schemas.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

export const eventStatuses = ['confirmed', 'tentative', 'cancelled'] as const
export type EventStatus = (typeof eventStatuses)[number]
/** The answers that a guest may give on its page. */
export const pageAnswers = ['accepted', 'declined', 'tentative'] as const
export type PageAnswer = (typeof pageAnswers)[number]
export const guestAnswers = [...pageAnswers, 'needs_action'] as const
export type GuestAnswer = (typeof guestAnswers)[number]

const time = 'An RFC 3339 instant, or YYYY-MM-DD for an all-day event.'
const attendee = t.Object(
  {
    user_id: t.Optional(t.String({ format: 'uuid', description: 'A member.' })),
    email: t.Optional(t.String({ format: 'email', maxLength: 320 })),
    name: t.Optional(t.String({ maxLength: 200 })),
  },
  { title: 'AttendeeInput', description: 'A guest: a member by user_id, or any person by email.' },
)
export type AttendeeInput = TypeOf<ReturnType<typeof schema<typeof attendee>>>

const title = t.String({ maxLength: 300, pattern: '\\S', description: 'a title of 1 to 300 characters, not only blanks' })

const fields = {
  title: t.Optional(title),
  start: t.Optional(t.String({ description: time })),
  end: t.Optional(
    t.String({ description: `${time} For an all-day event, the day after the last one. When left out: an hour, or one day.` }),
  ),
  calendar_id: t.Optional(t.String({ description: "Default: the caller's main calendar. Required for an access key." })),
  all_day: t.Optional(t.Boolean()),
  timezone: t.Optional(t.String({ maxLength: 64, description: 'An IANA time zone. Repeats keep the local time in it.' })),
  recurrence: t.Optional(
    nullable(
      t.String({ description: 'An RFC 5545 repeat rule, with or without the prefix RRULE:. FREQ is DAILY, WEEKLY, MONTHLY or YEARLY.' }),
    ),
  ),
  description: t.Optional(t.String({ maxLength: 20_000 })),
  location: t.Optional(t.String({ maxLength: 500 })),
  color: t.Optional(t.String({ maxLength: 40 })),
  status: t.Optional(t.Enum([...eventStatuses])),
  visibility: t.Optional(t.Enum(['default', 'private'])),
  reminders: t.Optional(nullable(reminderList)),
  attendees: t.Optional(t.Array(attendee, { maxItems: 100 })),
  record_type: t.Optional(nullable(t.String({ maxLength: 64, description: 'Links the event to a record; sent together with record_id.' }))),
  record_id: t.Optional(nullable(t.String({ maxLength: 64 }))),
  notify: t.Optional(t.Boolean({ description: 'False sends no mail to guests. Default: true.' })),
}

/** Body of a create request (docs/contract/calendar.md#creating-events). */
export const eventInput = schema(t.Object({ ...fields, title, start: t.String({ description: time }) }, { title: 'EventInput' }))
export type EventInput = TypeOf<typeof eventInput>

/** Body of a change request. Omitted properties stay unchanged. */
export const eventChange = schema(t.Object(fields, { title: 'EventChange' }))
export type EventChange = TypeOf<typeof eventChange>

/** The full-detail view of an event (docs/contract/calendar.md#events). */
export const eventView = schema(
  t.Object(
    {
      id: uuid,
      calendar_id: uuid,
      calendar_name: t.String(),
      title: t.String(),
      description: t.String(),
      location: t.String(),
      color: t.String(),
      start: t.String({ description: time }),
      end: t.String({ description: `${time} For an all-day event, the day after the last one.` }),
      all_day: t.Boolean(),
      timezone: t.String(),
      recurrence: t.String({ description: 'Empty when the event does not repeat.' }),
      recurrence_text: t.String({ description: 'The repeat rule in words.' }),
      status: t.Enum([...eventStatuses]),
      visibility: t.Enum(['default', 'private']),
      reminders: t.Array(t.Integer(), { description: "Minutes before the start: the event's own, else the calendar's." }),
      source: t.String({ description: 'manual, import, booking, flow or function.' }),
      attendees: t.Array(
        t.Object(
          {
            id: uuid,
            email: t.String(),
            name: t.String(),
            status: t.Enum([...guestAnswers]),
            mailed: t.Boolean({ 'x-changes-by-itself': true }),
          },
          {
            title: 'Attendee',
            description: 'mailed is false when no mail was sent: none was requested, or the daily limit was reached.',
          },
        ),
      ),
      series_id: nullable(t.String({ format: 'uuid', description: 'The series of a changed occurrence; null for any other event.' })),
      original_start: nullable(
        t.String({ description: 'The start that the series has for a changed occurrence; null for any other event.' }),
      ),
      record_type: nullable(t.String()),
      record_id: nullable(uuid),
      can_edit: t.Boolean(),
      created_at: instant,
      updated_at: instant,
    },
    { title: 'CalendarEvent' },
  ),
)
export type EventView = TypeOf<typeof eventView>

const occurrence = t.Object(
  {
    event_id: t.String({ format: 'uuid', description: 'In a records calendar, the id of the record.' }),
    series_id: nullable(
      t.String({
        format: 'uuid',
        description: 'The repeating event, null for any other event. A changed occurrence has its own event_id.',
      }),
    ),
    calendar_id: uuid,
    start: t.String({ description: time }),
    end: t.String({ description: time }),
    all_day: t.Boolean(),
    title: t.String({ description: 'Busy when details is false.' }),
    status: t.Enum([...eventStatuses]),
    recurring: t.Boolean(),
    details: t.Boolean({ description: 'False when the caller may see only busy time.' }),
  },
  { title: 'Occurrence' },
)
export type Occurrence = TypeOf<ReturnType<typeof schema<typeof occurrence>>>

export const eventList = schema(
  t.Object({ events: t.Array(occurrence) }, { title: 'EventList', description: 'At most 2,000 occurrences.' }),
)

export const listQuery = schema(
  t.Object({
    from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone of the workspace.' }),
    to: t.String({ description: 'As from; a day is included as a whole. At most 400 days after from.' }),
    calendars: t.Optional(t.String({ description: 'Comma-separated ids. Default: all visible calendars.' })),
    invites: t.Optional(flag('0 or false leaves out events that the caller was only invited to.')),
  }),
)
export type ListQuery = TypeOf<typeof listQuery>

export const changeQuery = schema(
  t.Object({
    scope: t.Optional(
      t.Enum(['all', 'this', 'following'], { description: 'For a repeating event: all occurrences, this one, or this and following.' }),
    ),
    occurrence: t.Optional(t.String({ description: 'The start of the occurrence: the one in the series, or the current one.' })),
    notify: t.Optional(flag('0 or false sends no mail to guests.')),
  }),
)
export type ChangeQuery = TypeOf<typeof changeQuery>

export const answerInput = schema(t.Object({ status: t.Enum([...guestAnswers]) }, { title: 'EventAnswer' }))
