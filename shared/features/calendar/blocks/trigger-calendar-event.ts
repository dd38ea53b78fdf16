import { defineTrigger, numberSetting, textSetting } from '#shared/core/automation/block.ts'
import { unknownNameProblems } from '#shared/core/automation/setting-problems.ts'
import { toText } from '#shared/core/automation/template.ts'

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
  const minutes = typeof value === 'string' && /^\s*\d{1,6}\s*$/.test(value) ? Number(value) : value
  return Number.isInteger(minutes) && (minutes as number) >= 0 && (minutes as number) <= maxMinutes ? (minutes as number) : undefined
}
