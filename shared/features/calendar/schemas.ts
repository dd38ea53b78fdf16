import { warningsSchema } from '#shared/core/scope/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'

/** A query parameter that is on or off. */
export const flag = (description: string) => t.Enum(['0', '1', 'true', 'false'], { description })

/** Reads a `flag`, which has the given value when it is left out. */
export const isFlagOn = (value: '0' | '1' | 'true' | 'false' | undefined, otherwise: boolean): boolean =>
  value === undefined ? otherwise : value === '1' || value === 'true'

/** Keys of `settings.booking.hours`, Monday first. */
export const bookingWeekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

const minutes = (minimum: number, maximum: number) => t.Integer({ minimum, maximum })
/** Upper bound of a booking's duration, slot step and buffer, in minutes. */
const dayMinutes = 1_440

const bookingTime = t.String({ pattern: '^(?:(?:[01]\\d|2[0-3]):[0-5]\\d|24:00)$', description: 'a time as HH:MM, up to 24:00' })
const spans = t.Array(t.Array(bookingTime, { minItems: 2, maxItems: 2, description: 'from and to' }), { maxItems: 20 })

/** Reminders of an event, in minutes before its start (docs/contract/calendar.md#creating-events). */
export const reminderList = t.Array(minutes(0, 10_080), { maxItems: 5, description: 'Minutes before the start.' })

const booking = t.Object(
  {
    enabled: t.Optional(t.Boolean()),
    title: t.Optional(t.String({ maxLength: 300 })),
    description: t.Optional(t.String({ maxLength: 5_000 })),
    location: t.Optional(t.String({ maxLength: 500 })),
    durations: t.Optional(
      t.Array(minutes(5, dayMinutes), { minItems: 1, maxItems: 10, description: 'Minutes; the first is the default.' }),
    ),
    slot_step: t.Optional(minutes(5, dayMinutes)),
    buffer: t.Optional(minutes(0, dayMinutes)),
    min_notice: t.Optional(minutes(0, 365 * dayMinutes)),
    horizon_days: t.Optional(minutes(1, 365)),
    hours: t.Optional(
      t.Object(Object.fromEntries(bookingWeekdays.map((day) => [day, t.Optional(spans)])), { additionalProperties: false }),
    ),
  },
  { title: 'BookingPage', description: 'A public page where visitors book a time.' },
)
const source = t.Object(
  {
    type_key: t.String({ minLength: 1, maxLength: 64 }),
    start_field: t.String({ minLength: 1, maxLength: 64 }),
    end_field: t.Optional(t.String({ maxLength: 64 })),
    title_field: t.Optional(t.String({ maxLength: 64 })),
  },
  { title: 'RecordSource', description: 'The record type that a records calendar shows, and the fields that hold the time and the title.' },
)
export type RecordSource = TypeOf<ReturnType<typeof schema<typeof source>>>

const settings = t.Object(
  {
    no_overlap: t.Optional(t.Boolean({ description: 'Refuses an event that overlaps another one of the calendar.' })),
    default_reminders: t.Optional(reminderList),
    booking: t.Optional(booking),
    source: t.Optional(source),
  },
  { title: 'CalendarSettings' },
)
export type CalendarSettings = TypeOf<ReturnType<typeof schema<typeof settings>>>
export type BookingSettings = NonNullable<CalendarSettings['booking']>

/** Known keys of settings. */
export const settingKeys: readonly string[] = Object.keys(settings.properties)

/** Settings as stored. */
export const calendarSettings = schema(settings)

/** Settings in a request: null removes a key. */
const settingsInput = t.Object(
  Object.fromEntries(Object.entries(settings.properties).map(([key, value]) => [key, t.Optional(t.Union([value, t.Null()]))])),
  { title: 'CalendarSettingsInput' },
)

const calendarKinds = ['personal', 'org', 'records'] as const
const calendarVisibilities = ['none', 'busy', 'read'] as const
const shareLevels = ['busy', 'read', 'write', 'manage'] as const
export const accessLevels = ['none', 'busy', 'read', 'write', 'manage', 'owner'] as const
export type CalendarAccess = (typeof accessLevels)[number]

const changeable = {
  name: t.Optional(nameSchema(120)),
  description: t.Optional(t.String({ maxLength: 1_000 })),
  color: t.Optional(t.String({ maxLength: 40 })),
  visibility: t.Optional(t.Enum([...calendarVisibilities], { description: 'The least access of every member; at most read.' })),
  timezone: t.Optional(t.String({ maxLength: 64, description: 'A time zone of the IANA list.' })),
  settings: t.Optional(settingsInput),
}

/** Body of a create request. */
export const calendarInput = schema(
  t.Object(
    {
      key: t.Optional(
        t.String({
          description: '2 to 64 lowercase letters, digits, - and _; u- at the start is reserved. Optional for a personal calendar.',
        }),
      ),
      kind: t.Optional(t.Enum([...calendarKinds], { description: 'Default: org.' })),
      ...changeable,
    },
    { title: 'CalendarInput' },
  ),
)
export type CalendarInput = TypeOf<typeof calendarInput>

/** Body of a change request. Settings merge by key; null removes a key. */
export const calendarChange = schema(t.Object(changeable, { title: 'CalendarChange' }))
export type CalendarChange = TypeOf<typeof calendarChange>

/** A calendar as a caller sees it (docs/contract/calendar.md#calendars). */
export const calendarView = schema(
  t.Object(
    {
      id: uuid,
      key: t.String(),
      name: t.String(),
      description: t.String(),
      color: t.String(),
      kind: t.Enum([...calendarKinds]),
      primary: t.Boolean(),
      visibility: t.Enum([...calendarVisibilities]),
      timezone: t.String(),
      access: t.Enum([...accessLevels], { description: "The caller's access." }),
      settings,
      booking_url: t.String({
        description: 'Address of the booking page, which answers while booking is enabled; empty for a records calendar.',
      }),
      feed_url: t.Optional(t.String({ description: 'The subscription link, while it is on; only for callers who manage the calendar.' })),
      created_at: instant,
      updated_at: instant,
      warnings: t.Optional(warningsSchema),
    },
    { title: 'Calendar' },
  ),
)
export type CalendarView = TypeOf<typeof calendarView>

/** A share of a calendar with a member. */
export const calendarShareView = schema(
  t.Object(
    {
      id: uuid,
      email: t.String(),
      user_id: uuid,
      name: t.String(),
      level: t.Enum([...shareLevels]),
      created_at: instant,
    },
    { title: 'CalendarShare' },
  ),
)
export type CalendarShareView = TypeOf<typeof calendarShareView>

export const calendarShareInput = schema(
  t.Object(
    { email: t.String({ maxLength: 320, description: "A member's mail address." }), level: t.Enum([...shareLevels]) },
    { title: 'CalendarShareInput' },
  ),
)
export type CalendarShareInput = TypeOf<typeof calendarShareInput>

export const deletedCalendarItem = schema(t.Object({ deleted: t.Literal(true) }, { title: 'Deleted' }))

/** Returns the zone. Throws VALIDATION_ERROR unless it is an IANA time zone name; `name` is the field in the message. */
export function requireTimeZone(zone: string, name = 'timezone'): string {
  if (!isTimeZone(zone)) {
    throw problem('VALIDATION_ERROR', `${name} must be a name of the IANA list such as Europe/Berlin, got ${zone.slice(0, 50)}`)
  }
  return zone
}
