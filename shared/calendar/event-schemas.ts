import { answers, statuses } from '#shared/calendar/event.ts'
import { reminderList } from '#shared/calendar/schemas.ts'
import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'

const time = 'An RFC 3339 instant, or YYYY-MM-DD for an all-day event.'
const attendee = t.Object(
  {
    user_id: t.Optional(t.String({ format: 'uuid', description: 'A member.' })),
    email: t.Optional(t.String({ format: 'email', maxLength: 320 })),
    name: t.Optional(t.String({ maxLength: 200 })),
  },
  { title: 'AttendeeInput', description: 'Who is invited: a member by its id, or anybody by address.' },
)
export type AttendeeInput = TypeOf<ReturnType<typeof schema<typeof attendee>>>

const fields = {
  title: t.Optional(t.String({ minLength: 1, maxLength: 300 })),
  start: t.Optional(t.String({ description: time })),
  end: t.Optional(
    t.String({ description: `${time} A timed event takes an hour without it; an all-day one ends on the day after its last.` }),
  ),
  calendar_id: t.Optional(t.String({ description: "The caller's main calendar when left out." })),
  all_day: t.Optional(t.Boolean()),
  timezone: t.Optional(t.String({ maxLength: 64, description: 'A time zone of the IANA list, whose clock repeats follow.' })),
  recurrence: t.Optional(
    nullable(t.String({ description: 'An RFC 5545 repeat rule, with or without RRULE: in front; DAILY or coarser.' })),
  ),
  description: t.Optional(t.String({ maxLength: 20_000 })),
  location: t.Optional(t.String({ maxLength: 500 })),
  color: t.Optional(t.String({ maxLength: 40 })),
  status: t.Optional(t.Enum([...statuses])),
  visibility: t.Optional(t.Enum(['default', 'private'])),
  reminders: t.Optional(nullable(reminderList)),
  attendees: t.Optional(t.Array(attendee, { maxItems: 100 })),
  record_type: t.Optional(nullable(t.String({ maxLength: 64, description: 'Links the event to a record, together with record_id.' }))),
  record_id: t.Optional(nullable(t.String({ maxLength: 64 }))),
  notify: t.Optional(t.Boolean({ description: 'False mails nobody; true when left out.' })),
}

/** What makes an event (document 3, Event create body). */
export const eventInput = schema(
  t.Object(
    { ...fields, title: t.String({ minLength: 1, maxLength: 300 }), start: t.String({ description: time }) },
    { title: 'EventInput' },
  ),
)
export type EventInput = TypeOf<typeof eventInput>

/** What may change of an event: what is left out stays. */
export const eventChange = schema(t.Object(fields, { title: 'EventChange' }))
export type EventChange = TypeOf<typeof eventChange>

/** An event as a caller that may see its details does (document 3, Event). */
export const eventView = schema(
  t.Object(
    {
      id: t.String({ format: 'uuid' }),
      calendar_id: t.String({ format: 'uuid' }),
      calendar_name: t.String(),
      title: t.String(),
      description: t.String(),
      location: t.String(),
      color: t.String(),
      start: t.String({ description: time }),
      end: t.String({ description: `${time} Of an all-day event the day after its last one.` }),
      all_day: t.Boolean(),
      timezone: t.String(),
      recurrence: t.String({ description: 'Empty when it does not repeat.' }),
      recurrence_text: t.String({ description: 'The repeat rule in words.' }),
      status: t.Enum([...statuses]),
      visibility: t.Enum(['default', 'private']),
      reminders: t.Array(t.Integer(), { description: "Minutes before the start: the event's own, else the calendar's." }),
      source: t.String({ description: 'manual, import, booking, flow or function.' }),
      attendees: t.Array(
        t.Object(
          {
            id: t.String({ format: 'uuid' }),
            email: t.String(),
            name: t.String(),
            status: t.Enum([...answers]),
            mailed: t.Boolean({ 'x-changes-by-itself': true }),
          },
          {
            title: 'Attendee',
            description: 'mailed is false for whom no mail went out: nobody asked for one, or the share of the day was used up.',
          },
        ),
      ),
      series_id: nullable(t.String({ format: 'uuid', description: 'Of a changed occurrence: its series.' })),
      original_start: nullable(t.String({ description: 'Of a changed occurrence: when its series had it.' })),
      record_type: nullable(t.String()),
      record_id: nullable(t.String({ format: 'uuid' })),
      can_edit: t.Boolean(),
      created_at: t.String({ format: 'date-time' }),
      updated_at: t.String({ format: 'date-time' }),
    },
    { title: 'CalendarEvent' },
  ),
)
export type EventView = TypeOf<typeof eventView>

const occurrence = t.Object(
  {
    event_id: t.String({ format: 'uuid', description: 'Of a records calendar the id of the record.' }),
    series_id: nullable(
      t.String({ format: 'uuid', description: 'Of a repeating event; a changed occurrence has an event_id of its own.' }),
    ),
    calendar_id: t.String({ format: 'uuid' }),
    start: t.String({ description: time }),
    end: t.String({ description: time }),
    all_day: t.Boolean(),
    title: t.String({ description: 'Busy where details is false.' }),
    status: t.Enum([...statuses]),
    recurring: t.Boolean(),
    details: t.Boolean({ description: 'False when the caller sees only that the time is taken.' }),
  },
  { title: 'Occurrence' },
)
export type Occurrence = TypeOf<ReturnType<typeof schema<typeof occurrence>>>

export const eventList = schema(
  t.Object({ events: t.Array(occurrence) }, { title: 'EventList', description: '2,000 occurrences at most.' }),
)

const flag = t.Enum(['0', '1', 'true', 'false'])
export const listQuery = schema(
  t.Object({
    from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone of the workspace.' }),
    to: t.String({ description: 'The same; the whole of a day is in. At most 400 days after from.' }),
    calendars: t.Optional(t.String({ description: 'Ids with commas between; all that the caller sees when left out.' })),
    invites: t.Optional(t.Enum(['0', '1', 'true', 'false'], { description: '0 leaves out what the caller was only invited to.' })),
  }),
)
export type ListQuery = TypeOf<typeof listQuery>

export const changeQuery = schema(
  t.Object({
    scope: t.Optional(
      t.Enum(['all', 'this', 'following'], { description: 'Of a repeating event: all of it, one occurrence, or it and those after it.' }),
    ),
    occurrence: t.Optional(t.String({ description: 'When the occurrence starts: as its series has it, or as it is now.' })),
    notify: t.Optional(t.Enum(['0', '1', 'true', 'false'], { description: '0 mails nobody.' })),
  }),
)
export type ChangeQuery = TypeOf<typeof changeQuery>

export const answerInput = schema(t.Object({ status: t.Enum([...answers]) }, { title: 'EventAnswer' }))
export const isOn = (value: TypeOf<ReturnType<typeof schema<typeof flag>>> | undefined): boolean => value !== '0' && value !== 'false'
