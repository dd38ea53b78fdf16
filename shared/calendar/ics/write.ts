import ICAL from 'ical.js'
import { type Attendee, type EventRow, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import { untilOf } from '#shared/calendar/expand.ts'
import { clean, type Jcal, type JcalProperty } from '#shared/calendar/ics/jcal.ts'
import { zoneComponent } from '#shared/calendar/ics/zones.ts'
import { partsOf, ruleOf } from '#shared/calendar/rule.ts'
import { untilText } from '#shared/calendar/shift.ts'
import { hiddenTitle, type Sight } from '#shared/calendar/sight.ts'
import { dateText, wallMs } from '#shared/calendar/time.ts'
import type { When } from '#shared/calendar/when.ts'

// ical-generator writes RECURRENCE-ID of dates as instants and several values unescaped; ical.js, which reads files anyway, does neither.

// It counts the octets of a folded line without the blank in front; 75 with it are the most (RFC 5545, 3.1).
ICAL.foldLength = 74

/** One event of a file, as whoever gets the file may see it. */
export interface WrittenOut {
  readonly event: EventRow
  /** Of an exception its series, in whose zone it says which occurrence it stands for. */
  readonly series?: EventRow | undefined
  /** Starts of a series that are deleted, beside those that it leaves out itself. */
  readonly removed?: readonly number[]
  readonly sight: Exclude<Sight, 'none'>
  readonly organizer?: { readonly name: string; readonly email: string } | undefined
  readonly attendees?: readonly Pick<Attendee, 'email' | 'name' | 'status'>[]
  readonly reminders?: readonly number[]
}

/** A file. */
export interface CalendarFile {
  readonly method?: 'REQUEST' | 'CANCEL' | 'PUBLISH'
  readonly name?: string
  readonly zone?: string
  readonly events: readonly WrittenOut[]
  /** When it is written: DTSTAMP of every event. */
  readonly now: Date
}

/** The text of a file (RFC 5545): lines of at most 75 octets, zones told in full, everything escaped. */
export function writeIcs({ method, name, zone, events, now }: CalendarFile): string {
  const head: JcalProperty[] = [
    ['version', {}, 'text', '2.0'],
    ['prodid', {}, 'text', '-//Kontor//Calendar//EN'],
    ['calscale', {}, 'text', 'GREGORIAN'],
    ...(method ? [['method', {}, 'text', method] as const] : []),
    ...(name === undefined
      ? []
      : ([
          ['x-wr-calname', {}, 'text', clean(name)],
          ['refresh-interval', { value: 'duration' }, 'duration', 'PT1H'],
          ['x-published-ttl', {}, 'duration', 'PT1H'],
        ] as const)),
    ...(zone === undefined ? [] : [['x-wr-timezone', {}, 'text', zone] as const]),
  ]
  const calendar: Jcal = ['vcalendar', head, [...zonesOf(events, now), ...events.map((one) => eventComponent(one, now))]]
  return `${ICAL.stringify(calendar as unknown as unknown[])}\r\n`
}

function zonesOf(events: readonly WrittenOut[], now: Date): Jcal[] {
  const spans = new Map<string, { from: number; to: number }>()
  for (const { event } of events) {
    const { allDay, start, end, zone } = whenOf(event)
    if (allDay || zone === 'UTC') continue
    const known = spans.get(zone) ?? { from: start, to: end }
    spans.set(zone, { from: Math.min(known.from, start), to: Math.max(known.to, end, event.recurrence === null ? end : now.getTime()) })
  }
  return [...spans].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, { from, to }]) => zoneComponent(zone, from, to))
}

function eventComponent(out: WrittenOut, now: Date): Jcal {
  const { event, sight } = out
  const when = whenOf(event)
  const isOpen = sight === 'details'
  const text = (name: string, value: string): JcalProperty[] => (value === '' ? [] : [[name, {}, 'text', clean(value)]])
  return [
    'vevent',
    [
      ...text('uid', event.uid),
      instant('dtstamp', now.toISOString()),
      ['sequence', {}, 'integer', event.sequence],
      time('dtstart', when, when.start),
      ...(when.end > when.start ? [time('dtend', when, when.end)] : []),
      ...repeats(out),
      ...occurrence(out),
      ...text('summary', isOpen ? event.title : hiddenTitle),
      ...(isOpen ? [...text('description', event.description), ...text('location', event.location)] : []),
      ['status', {}, 'text', event.status.toUpperCase()],
      ...(event.visibility === 'private' ? text('class', 'PRIVATE') : []),
      ...(event.is_free ? text('transp', 'TRANSPARENT') : []),
      instant('created', event.created_at),
      instant('last-modified', event.updated_at),
      ...(isOpen ? people(out) : []),
    ],
    isOpen ? (out.reminders ?? []).map(alarm) : [],
  ]
}

const seconds = (text: string): string => `${text.slice(0, 19)}Z`
const instant = (name: string, text: string): JcalProperty => [name, {}, 'date-time', seconds(text)]

/** A time in its own zone: with the zone's name, in UTC with a Z, dates as dates. */
function time(name: string, { allDay, zone }: Pick<When, 'allDay' | 'zone'>, ...at: readonly number[]): JcalProperty {
  if (allDay) return [name, {}, 'date', ...at.map(dateText)]
  if (zone === 'UTC') return [name, {}, 'date-time', ...at.map((ms) => seconds(new Date(ms).toISOString()))]
  return [name, { tzid: zone }, 'date-time', ...at.map((ms) => new Date(wallMs(ms, zone)).toISOString().slice(0, 19))]
}

function repeats({ event, removed = [] }: WrittenOut): JcalProperty[] {
  const series = seriesOf(event)
  if (!series) return []
  const parts = partsOf(series.rule)
  const until = untilOf(parts.get('UNTIL'), series)
  const rule = ruleOf(parts, { UNTIL: until === undefined ? undefined : untilText(until, series) })
  const out = [...new Set([...series.exdates, ...removed])].sort((a, b) => a - b)
  return [
    ['rrule', {}, 'recur', ICAL.Recur.fromString(rule).toJSON()],
    ...(series.rdates.length > 0 ? [time('rdate', series, ...series.rdates)] : []),
    ...(out.length > 0 ? [time('exdate', series, ...out)] : []),
  ]
}

function occurrence({ event, series }: WrittenOut): JcalProperty[] {
  const original = originalOf(event)
  if (original === undefined) return []
  const { zone } = series ? whenOf(series) : whenOf(event)
  return [time('recurrence-id', { allDay: event.original_date !== null, zone }, original)]
}

const answersInFiles = { accepted: 'ACCEPTED', declined: 'DECLINED', tentative: 'TENTATIVE', needs_action: 'NEEDS-ACTION' } as const

function people({ organizer, attendees = [] }: WrittenOut): JcalProperty[] {
  const address = (email: string) => `mailto:${clean(email).replaceAll(/\s/g, '')}`
  const named = (name: string): Record<string, string> => (name === '' ? {} : { cn: clean(name) })
  return [
    ...(organizer ? [['organizer', named(organizer.name), 'cal-address', address(organizer.email)] as const] : []),
    ...attendees.map(
      ({ email, name, status }): JcalProperty => [
        'attendee',
        { ...named(name), role: 'REQ-PARTICIPANT', partstat: answersInFiles[status], rsvp: 'TRUE' },
        'cal-address',
        address(email),
      ],
    ),
  ]
}

const alarm = (minutes: number): Jcal => [
  'valarm',
  [
    ['action', {}, 'text', 'DISPLAY'],
    ['trigger', {}, 'duration', minutes === 0 ? 'PT0S' : `-PT${minutes}M`],
    ['description', {}, 'text', 'Reminder'],
  ],
  [],
]
