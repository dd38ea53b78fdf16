import { guestAnswers, pageAnswers } from '#shared/features/calendar/events/schemas.ts'
import { flag } from '#shared/features/calendar/schemas.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** A booking page as visitors see it (docs/contract/public.md#booking-pages). */
export const bookingPageView = schema(
  t.Object(
    {
      title: t.String(),
      description: t.String(),
      durations: t.Array(t.Integer()),
      timezone: t.String(),
      location: t.String(),
      horizon_days: t.Integer(),
      hours: t.Record(t.String(), t.Array(t.Array(t.String()))),
      owner_name: t.String(),
      org_name: t.String(),
      color: nullable(t.String()),
    },
    { title: 'BookingPageView' },
  ),
)

export const slotsQuery = schema(
  t.Object({
    from: t.String({ description: "An RFC 3339 instant, or YYYY-MM-DD in the page's time zone." }),
    to: t.String({ description: 'Written like `from`; a date includes the whole day.' }),
    duration: t.Optional(t.Integer({ minimum: 1, description: 'Minutes: one of the durations of the page; default: the first one.' })),
    explain: t.Optional(flag('1 adds why starts are refused, for callers who may read the calendar.')),
  }),
)
export type SlotsQuery = TypeOf<typeof slotsQuery>

export const slotList = schema(
  t.Object(
    {
      slots: t.Array(instant),
      refused: t.Optional(
        t.Array(
          t.Object({
            start: instant,
            reason: t.String({ description: 'notice, horizon, busy:<calendar id> or buffer:<event id>.' }),
          }),
        ),
      ),
    },
    { title: 'Slots' },
  ),
)

export const bookingInput = schema(
  t.Object(
    {
      start: t.String({ description: 'The start of one of the slots.' }),
      duration: t.Optional(t.Integer({ minimum: 1, description: 'Minutes.' })),
      name: nameSchema(200),
      email: t.String({ format: 'email', maxLength: 320 }),
      notes: t.Optional(t.String({ maxLength: 5_000 })),
    },
    { title: 'BookingInput' },
  ),
)
export type BookingInput = TypeOf<typeof bookingInput>

export const booked = schema(
  t.Object(
    {
      ok: t.Literal(true),
      start: instant,
      end: instant,
      token: t.String({ description: "Opens the visitor's own page of the booking." }),
    },
    { title: 'Booked' },
  ),
)
export type Booked = TypeOf<typeof booked>

/** An invitation as its guest sees it (docs/contract/public.md#invitations). */
export const invitation = schema(
  t.Object(
    {
      title: t.String(),
      description: t.String(),
      location: t.String(),
      start: t.String(),
      end: t.String(),
      all_day: t.Boolean(),
      timezone: t.String(),
      when: t.String({ description: 'The time in words.' }),
      recurring: t.Boolean(),
      cancelled: t.Boolean(),
      organizer: t.String(),
      org_name: t.String(),
      guest_name: t.String(),
      guest_email: t.String(),
      status: t.Enum([...guestAnswers]),
      booking: t.Boolean({ description: 'Whether it came from a booking page.' }),
    },
    { title: 'CalendarInvitation' },
  ),
)
export type Invitation = TypeOf<typeof invitation>

export const guestAnswerInput = schema(t.Object({ status: t.Enum([...pageAnswers]) }, { title: 'GuestAnswer' }))
