import { defineBlock, flag, isSet, number, numberIn, text } from '#shared/core/automation/block.ts'
import { blankProblems, typeProblems, unknownName } from '#shared/core/automation/setting-problems.ts'
import { filledIn, textOf } from '#shared/core/automation/template.ts'
import { requireCalendarByKey } from '#shared/features/calendar/calendars/calendars.ts'
import { createEvent } from '#shared/features/calendar/events/create-event.ts'
import { eventInput } from '#shared/features/calendar/events/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { t } from '#shared/platform/kernel/schema.ts'
import { isDay, utcInstant } from '#shared/platform/kernel/time/instant.ts'

const attendee = t.Object({
  user_id: text('Id of a member.'),
  email: text('Or an email address.'),
  name: text('The name, for an address.'),
})

export const createEventBlock = defineBlock({
  type: 'action.create_event',
  label: 'Create a calendar event',
  description: 'Puts an event into a calendar and invites its guests.',
  settings: {
    calendar_key: text('Key of the calendar.'),
    title: text('The title.'),
    description: text('The description.'),
    location: text('The location.'),
    start: text('An instant, or a date for an all-day event.'),
    end: text('The end; or duration_minutes.'),
    duration_minutes: number('The length in minutes, instead of end.'),
    all_day: flag('Whether it is an all-day event.'),
    attendees: t.Optional(t.Array(attendee, { maxItems: 200, description: 'The guests to invite.' })),
    record_type: text('Key of the record type of the linked record.'),
    record_id: text('Id of the linked record.'),
  },
  required: ['calendar_key', 'title', 'start'],
  problems: (config, around) => [
    ...unknownName('calendar_key', config.calendar_key, around.calendarKeys, 'the key of a calendar'),
    ...typeProblems(config.record_type, around, 'record_type'),
    ...blankProblems(config, ['record_id']),
  ],
  handles: ['out'],
  output: { id: t.String() },
  shown: 'readers',
  app: 'calendar',
  work: {
    acts: async ({ settings, key }, scope) => {
      const calendarId = await requireCalendarByKey(scope, textOf(settings.calendar_key).trim())
      const input = eventInput.parse({ calendar_id: calendarId, ...eventOf(settings) }, 'event')
      const { id } = await createEvent(scope, input, { naturalKey: key, source: 'flow' })
      return { id }
    },
  },
})

/** The event input of the settings: texts that are not blank, the end from a given length, and the guests. */
function eventOf(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { calendar_key: _, all_day, duration_minutes, attendees, ...texts } = settings
  const { start = '', ...written } = filledIn(texts)
  const isWholeDay = isSet(all_day, 'all_day') || isDay(start)
  const minutes = numberIn(duration_minutes, 'duration_minutes')
  return {
    ...written,
    start,
    ...(isWholeDay ? { all_day: true } : {}),
    ...(minutes !== undefined && written.end === undefined && !isWholeDay ? { end: endOf(start, minutes) } : {}),
    ...(Array.isArray(attendees) ? { attendees: attendees.map(filledIn) } : {}),
  }
}

/** The end as an RFC 3339 instant. Throws VALIDATION_ERROR for a start that is no instant or a length out of range. */
function endOf(start: string, minutes: number): string {
  const instant = utcInstant(start)
  if (instant === undefined)
    throw problem('VALIDATION_ERROR', `start must be an instant beside duration_minutes, got ${start.slice(0, 100)}`)
  if (minutes <= 0 || minutes > 525_600) throw problem('VALIDATION_ERROR', 'duration_minutes must be above 0 and at most 525600')
  return new Date(Date.parse(instant) + minutes * 60_000).toISOString()
}
