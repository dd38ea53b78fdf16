import {
  defineBlock,
  defineTrigger,
  flagSetting,
  numberSetting,
  readFlagSetting,
  readIdSetting,
  readNumberSetting,
  textSetting,
} from '#shared/core/automation/block.ts'
import { blankProblems, typeProblems, unknownNameProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { readFilledTexts, toText } from '#shared/core/automation/template.ts'
import { requireCalendarByKey } from '#shared/features/calendar/calendars/calendars.ts'
import { readTime } from '#shared/features/calendar/event-time.ts'
import { createEvent } from '#shared/features/calendar/events/create-event.ts'
import { eventInput } from '#shared/features/calendar/events/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'
import { jsonDouble } from '#shared/platform/kernel/values/json.ts'

const attendee = t.Object({
  user_id: textSetting('Id of a member.'),
  email: textSetting('An email address, instead of user_id.'),
  name: textSetting('The name of a guest who is given by email.'),
})

export const createEventBlock = defineBlock({
  type: 'action.create_event',
  label: 'Create a calendar event',
  description: 'Puts an event into a calendar and invites its guests.',
  settings: {
    calendar_key: textSetting('Key of the calendar.'),
    title: textSetting('The title.'),
    description: textSetting('The description.'),
    location: textSetting('The location.'),
    start: textSetting('An instant, or a date for an all-day event.'),
    end: textSetting('The end, unless duration_minutes is set.'),
    duration_minutes: numberSetting('The length in minutes, instead of end.'),
    all_day: flagSetting('Whether it is an all-day event.'),
    attendees: t.Optional(t.Array(attendee, { maxItems: 200, description: 'The guests to invite.' })),
    record_type: textSetting('Key of the record type of the linked record.'),
    record_id: textSetting('Id of the linked record.'),
  },
  required: ['calendar_key', 'title', 'start'],
  problems: (config, around) => [
    ...unknownNameProblems('calendar_key', config.calendar_key, around.calendarKeys, 'the key of a calendar'),
    ...typeProblems(config.record_type, around, 'record_type'),
    ...blankProblems(config, ['record_id']),
    ...valueProblems(config, {
      start: readFixedTime,
      end: readFixedTime,
      all_day: readFlagSetting,
      duration_minutes: readDuration,
      record_id: readIdSetting,
    }),
    ...attendeeProblems(config.attendees),
  ],
  handles: ['out'],
  output: { id: t.String() },
  shown: 'readers',
  app: 'calendar',
  work: {
    acts: async ({ settings, key }, scope) => {
      const calendarId = await requireCalendarByKey(scope, toText(settings.calendar_key).trim())
      const input = eventInput.parse({ calendar_id: calendarId, ...eventOf(settings) }, 'event')
      const { id } = await createEvent(scope, input, { deduplicationKey: key, source: 'flow' })
      return { id }
    },
  },
})

/** Reads a start or an end before it is known whether the event takes whole days. */
const readFixedTime = (text: string, name: string): number => readTime(name, text, isDay(text))

/** Reads a length in minutes; undefined when blank. Throws VALIDATION_ERROR naming the setting. */
function readDuration(value: unknown, name: string): number | undefined {
  const minutes = readNumberSetting(value, name)
  if (minutes !== undefined && (minutes <= 0 || minutes > 525_600))
    throw problem('VALIDATION_ERROR', `${name} must be above 0 and at most 525600`)
  return minutes
}

function attendeeProblems(attendees: unknown): string[] {
  return ((attendees ?? []) as readonly Readonly<Record<string, unknown>>[]).flatMap((attendee, index) => {
    const path = `attendees[${index}]`
    const { user_id, email } = attendee
    if ((user_id ?? '') === '' && toText(email).trim() === '') return [`${path} must have user_id or email`]
    return [
      ...(user_id === '' ? [] : blankProblems(attendee, ['user_id'], `${path}.`)),
      ...valueProblems(attendee, { user_id: readIdSetting, email: (text, name) => emailShape.parse(text, name) }, `${path}.`),
    ]
  })
}

const emailShape = schema(t.String({ format: 'email', maxLength: 320 }))

/** The event input of the settings: texts that are not blank, the end from a given length, and the guests. */
function eventOf(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { calendar_key: _, all_day, duration_minutes, attendees, ...texts } = settings
  const { start = '', ...written } = readFilledTexts(texts)
  const isWholeDay = readFlagSetting(all_day, 'all_day') || isDay(start)
  const minutes = readDuration(duration_minutes, 'duration_minutes')
  return {
    ...written,
    start,
    ...(isWholeDay ? { all_day: true } : {}),
    ...(minutes !== undefined && written.end === undefined && !isWholeDay ? { end: endOf(start, minutes) } : {}),
    ...(Array.isArray(attendees) ? { attendees: attendees.map(readFilledTexts) } : {}),
  }
}

/** The end as an RFC 3339 instant. Throws VALIDATION_ERROR for a start that is no instant. */
function endOf(start: string, minutes: number): string {
  const instant = toUtcInstant(start)
  if (instant === undefined)
    throw problem('VALIDATION_ERROR', `start must be an instant beside duration_minutes, got ${start.slice(0, 100)}`)
  return new Date(Date.parse(instant) + minutes * minuteMs).toISOString()
}

const eventNames = ['created', 'updated', 'cancelled', 'starting']

/** How long before an event a flow may start, in minutes. */
const maxMinutes = 30 * 24 * 60

export const calendarEventTrigger = defineTrigger({
  type: 'trigger.calendar_event',
  kind: 'calendar',
  label: 'Calendar event',
  description: 'Runs when a calendar event is created, updated or cancelled, or some minutes before it starts.',
  settings: {
    calendar_key: textSetting('Key of the calendar; blank for any.'),
    event: textSetting(`One of ${eventNames.join(', ')}.`),
    minutes_before: numberSetting('For starting: how many minutes before, 0 to 43,200.'),
  },
  required: ['event'],
  problems: ({ event, minutes_before, calendar_key }, { calendarKeys }) => [
    ...(toText(calendar_key).trim() === ''
      ? []
      : unknownNameProblems('calendar_key', calendar_key, calendarKeys, 'the key of a calendar, or blank for any')),
    ...(event === undefined || eventNames.includes(event as string) ? [] : [`event must be one of ${eventNames.join(', ')}`]),
    ...(minutes_before === undefined || minutesBeforeOf(minutes_before) !== undefined
      ? []
      : [`minutes_before must be a whole number from 0 to ${maxMinutes}`]),
  ],
  sample: {
    event: 'created',
    calendar_event: {
      id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c',
      calendar_key: 'team',
      title: 'Text',
      description: '',
      location: '',
      start: '2026-11-21T09:00:00.000000Z',
      end: '2026-11-21T10:00:00.000000Z',
      all_day: false,
      attendees: [{ email: 'guest@example.com', name: 'Guest' }],
    },
  },
})

/** The whole minutes of a setting, 0 to 43,200; undefined for any other value. */
export function minutesBeforeOf(value: unknown): number | undefined {
  const minutes = typeof value === 'string' && /^\s*\d{1,6}\s*$/.test(value) ? Number(value) : (jsonDouble(value) ?? Number.NaN)
  return Number.isInteger(minutes) && minutes >= 0 && minutes <= maxMinutes ? minutes : undefined
}
