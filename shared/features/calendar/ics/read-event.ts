import { createHash } from 'node:crypto'
import { type EventTime, wallClockOf } from '#shared/features/calendar/event-time.ts'
import type { EventStatus, GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import { parseComponent, propertiesOf, property, type RawComponent, rawValue, textOf } from '#shared/features/calendar/ics/components.ts'
import {
  durationMs,
  type FileTime,
  instantOfFileTime,
  isZoneUnknown,
  periodLengths,
  timesOf,
  type ZoneLookup,
  zoneOfTime,
} from '#shared/features/calendar/ics/file-times.ts'
import { cleanFileText, type Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { readRule, rulePartsOf } from '#shared/features/calendar/series/rule.ts'
import { dateMs, dateText, toWallClock } from '#shared/features/calendar/time.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** A guest of a file. */
interface FileGuest {
  readonly email: string
  readonly name: string
  readonly status: GuestAnswer
}

/** An event read from a file. */
export interface FileEvent {
  readonly line: number
  readonly uid: string
  readonly sequence: number
  /** DTSTAMP, which orders two versions with the same sequence number. */
  readonly stamp: string
  readonly when: EventTime
  /** Of a changed occurrence, its original start: a date or a local time. */
  readonly original: FileTime | undefined
  readonly recurrence: string | null
  /** Starts added to and removed from the rule, in the local time of the event. */
  readonly rdates: readonly number[]
  readonly exdates: readonly number[]
  readonly title: string
  readonly description: string
  readonly location: string
  readonly status: EventStatus
  readonly isPrivate: boolean
  readonly isFree: boolean
  readonly reminders: number[] | null
  readonly organizer: { readonly name: string; readonly email: string } | null
  readonly guests: readonly FileGuest[]
  /** Warnings about parts that could not be imported. */
  readonly notes: readonly string[]
}

const [maxRdates, maxExdates, maxGuests] = [2_000, 10_000, 100]

/** Properties that an event may have only once (RFC 5545, 3.6.1). */
const singleProperties = ['uid', 'dtstart', 'dtend', 'duration', 'recurrence-id', 'summary', 'status'] as const

/** Reads an event. Throws an Error or a Problem that says which part cannot be read. */
export function readFileEvent(raw: RawComponent, zoneLookup: ZoneLookup): FileEvent {
  const component = parseComponent(raw)
  const notes: string[] = []
  const rules = rawValue(raw, 'RRULE').filter((rule) => rule !== '')
  if (rules.length > 1) notes.push('has several RRULE: the first one counts')
  if (rawValue(raw, 'EXRULE').length > 0) notes.push('has EXRULE, which is left out')
  for (const name of singleProperties)
    if (propertiesOf(component, name).length > 1) notes.push(`has several ${name.toUpperCase()}: the first one counts`)
  const recurrence = rules[0] === undefined ? null : readFileRule(rules[0], notes)
  const when = readFileWhen(component, recurrence, zoneLookup, notes)
  const rdates = localTimesOf(component, 'rdate', when, zoneLookup)
  if (rdates.length > maxRdates) throw new Error(`has more than ${maxRdates} RDATEs`)
  const exdates = localTimesOf(component, 'exdate', when, zoneLookup)
  if (exdates.length > maxExdates) throw new Error(`has more than ${maxExdates} EXDATEs`)
  const recurrenceId = property(component, 'recurrence-id')
  const original = recurrenceId && timesOf(recurrenceId)[0]
  if (original && (recurrence !== null || rdates.length > 0)) notes.push('repeats beside its RECURRENCE-ID, which is left out')
  if (
    propertiesOf(component, 'rdate')
      .flatMap(periodLengths)
      .some((length) => length !== when.end - when.start)
  )
    notes.push('has RDATE periods of another length: they are as long as the event')
  if (recurrenceId?.[1].range !== undefined) notes.push('changes all later occurrences, of which only the first is imported')
  return {
    line: raw.line,
    uid: uidOf(component) || contentUid(raw),
    sequence: Math.min(2_000_000_000, Math.max(0, Math.trunc(Number(textOf(component, 'sequence')) || 0))),
    stamp: textOf(component, 'dtstamp'),
    when,
    original,
    // RDATEs alone also make a series: its rule gives only the first start.
    recurrence: original ? null : (recurrence ?? (rdates.length > 0 ? 'FREQ=DAILY;COUNT=1' : null)),
    rdates: original ? [] : rdates,
    exdates: original ? [] : exdates,
    title: truncate(textOf(component, 'summary'), 300, 'SUMMARY', notes) || 'Untitled',
    description: truncate(textOf(component, 'description'), 20_000, 'DESCRIPTION', notes),
    location: truncate(textOf(component, 'location'), 500, 'LOCATION', notes),
    status: statusOf(textOf(component, 'status')),
    isPrivate: /^(?:private|confidential)$/i.test(textOf(component, 'class')),
    isFree: /^transparent$/i.test(textOf(component, 'transp')),
    reminders: remindersOf(component),
    ...peopleOf(component, notes),
    notes,
  }
}

function readFileWhen(component: Jcal, recurrence: string | null, zoneLookup: ZoneLookup, notes: string[]): EventTime {
  const dtstart = property(component, 'dtstart')
  const start = dtstart && timesOf(dtstart)[0]
  if (!start) throw new Error('has no DTSTART')
  const dtend = property(component, 'dtend')
  const end = dtend && timesOf(dtend)[0]
  const text = textOf(component, 'duration')
  const duration = text === '' ? undefined : durationMs(text)
  if (text !== '' && (duration === undefined || duration < 0)) throw new Error(`has an invalid DURATION: ${cutText(text, 60)}`)
  if (end && duration !== undefined) notes.push('has DTEND and DURATION: DTEND counts')
  if (start.isDate) return readDates(start, end, duration, zoneLookup)
  for (const tzid of new Set([start, ...(end ? [end] : [])].flatMap((time) => (isZoneUnknown(time, zoneLookup) ? [time.tzid] : []))))
    notes.push(`is in the unknown time zone ${tzid}, which the file does not describe: it is read as ${zoneLookup.floating}`)
  const zone = zoneOfTime(start, spanEnd(start, recurrence), zoneLookup)
  if (zone === undefined && recurrence !== null) throw new Error(`repeats in the time zone ${start.tzid}, which matches no IANA zone`)
  if (zone === undefined) notes.push(`is in the time zone ${start.tzid}, which matches no IANA zone: its instant is kept`)
  const from = instantOfFileTime(start, zone, zoneLookup)
  // A floating end is in the zone of the start.
  const endZone = end && (end.tzid === undefined && !end.isUtc ? zone : zoneOfTime(end, end.wall, zoneLookup))
  const to = end
    ? end.isDate
      ? instantOfFileTime({ ...end, tzid: start.tzid, isUtc: start.isUtc }, zone, zoneLookup)
      : instantOfFileTime(end, endZone, zoneLookup)
    : from + (duration ?? 0)
  if (to < from) throw new Error('ends before it starts')
  return { allDay: false, start: from, end: to, zone: zone ?? 'UTC' }
}

function readDates(start: FileTime, end: FileTime | undefined, duration: number | undefined, zoneLookup: ZoneLookup): EventTime {
  const last = end ? dateMs(dateText(end.wall)) : start.wall + Math.max(dayMs, Math.ceil((duration ?? 0) / dayMs) * dayMs)
  if (last < start.wall) throw new Error('ends before it starts')
  return { allDay: true, start: start.wall, end: Math.max(last, start.wall + dayMs), zone: zoneLookup.floating }
}

/** The last local time whose zone offset matters: for a series the end of its rule, at most two years after its start. */
function spanEnd(start: FileTime, recurrence: string | null): number {
  if (recurrence === null) return start.wall
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})/.exec(rulePartsOf(recurrence).get('UNTIL') ?? '') ?? []
  const until = year === undefined ? Number.POSITIVE_INFINITY : Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return Math.max(start.wall, Math.min(until, start.wall + 730 * dayMs))
}

/** The starts of RDATE or EXDATE in the local time of the event. For a timed event, a date means the event's start on that day. */
function localTimesOf(component: Jcal, name: string, when: EventTime, zoneLookup: ZoneLookup): number[] {
  const clock = wallClockOf(when, when.start) % dayMs
  return propertiesOf(component, name).flatMap((one) =>
    timesOf(one).map((time) => {
      if (when.allDay) return dateMs(dateText(time.wall))
      if (time.isDate) return time.wall + clock
      const zone = zoneOfTime(time, time.wall, time.tzid === undefined && !time.isUtc ? { ...zoneLookup, floating: when.zone } : zoneLookup)
      return toWallClock(instantOfFileTime(time, zone, zoneLookup), when.zone)
    }),
  )
}

/** The original start of a changed occurrence, in epoch milliseconds as its series counts them. */
export function originalStartIn(time: FileTime, series: EventTime, zoneLookup: ZoneLookup): number {
  if (series.allDay) return dateMs(dateText(time.isUtc ? toWallClock(time.wall, series.zone) : time.wall))
  const clock = wallClockOf(series, series.start) % dayMs
  if (time.isDate) return instantOfFileTime({ ...time, wall: time.wall + clock, isDate: false }, series.zone, zoneLookup)
  const own = time.tzid === undefined && !time.isUtc ? { ...zoneLookup, floating: series.zone } : zoneLookup
  return instantOfFileTime(time, zoneOfTime(time, time.wall, own), own)
}

/** Bytes of a UID that its unique index can hold beside the ids: an index row has 2,704 bytes at most. */
const maxUidBytes = 2_600

function uidOf(component: Jcal): string {
  const uid = cutText(textOf(component, 'uid'), 1_000)
  if (Buffer.byteLength(uid) > maxUidBytes) throw new Error(`has a UID of more than ${maxUidBytes} bytes`)
  return uid
}

function truncate(text: string, most: number, name: string, notes: string[]): string {
  const letters = cleanFileText(text)
  const kept = cutText(letters, most)
  if (kept !== letters) notes.push(`has ${name} of more than ${most} characters, which is cut`)
  return kept
}

const statusOf = (text: string): EventStatus =>
  /^cancelled$/i.test(text) ? 'cancelled' : /^tentative$/i.test(text) ? 'tentative' : 'confirmed'

function remindersOf([, , components]: Jcal): number[] | null {
  const alarms = components.filter(([name]) => name === 'valarm')
  const minutes = alarms.flatMap((alarm) => {
    const [, parameters, , value] = property(alarm, 'trigger') ?? []
    const ms = parameters?.related === undefined ? durationMs(String(value ?? '')) : undefined
    const before = ms === undefined ? Number.NaN : Math.round(-ms / minuteMs)
    return before >= 0 && before <= 10_080 ? [before] : []
  })
  return alarms.length === 0 ? null : [...new Set(minutes)].slice(0, 5)
}

const answers: Readonly<Record<string, GuestAnswer>> = { ACCEPTED: 'accepted', DECLINED: 'declined', TENTATIVE: 'tentative' }

function peopleOf(component: Jcal, notes: string[]): Pick<FileEvent, 'organizer' | 'guests'> {
  const person = ([, { cn = '' }, , value]: readonly [string, Readonly<Record<string, string>>, string, ...unknown[]]) => ({
    email: cutText(
      cleanFileText(String(value ?? ''))
        .replace(/^mailto:/i, '')
        .trim(),
      320,
    ),
    name: cutText(cleanFileText(String(cn)), 200),
  })
  const organizer = property(component, 'organizer')
  const attendees = propertiesOf(component, 'attendee').map((one) => ({
    ...person(one),
    status: answers[String(one[1].partstat).toUpperCase()] ?? ('needs_action' as const),
  }))
  const guests = [
    ...new Map(attendees.filter(({ email }) => email.includes('@')).map((guest) => [guest.email.toLowerCase(), guest])).values(),
  ]
  if (guests.length > maxGuests) notes.push(`has ${guests.length} guests, of which ${maxGuests} are kept`)
  return { organizer: organizer ? person(organizer) : null, guests: guests.slice(0, maxGuests) }
}

/** A UID for an event without one, derived from its content: importing the same file again finds the same event. */
const contentUid = ({ lines }: RawComponent): string =>
  `${createHash('sha256')
    .update(lines.filter((line) => !/^(?:DTSTAMP|CREATED|LAST-MODIFIED|SEQUENCE)\b/i.test(line)).join('\n'))
    .digest('hex')
    .slice(0, 40)}@import`

/**
 * Reads a file's RRULE into the stored form. Other programs write blanks, lowercase letters, `COUNT=-1` for a series without an end, and
 * parts without effect (`X-…`, RFC 7529's `RSCALE=GREGORIAN` and `SKIP=OMIT`). Omitted `X-` and COUNT parts are added to `notes`. Throws
 * VALIDATION_ERROR for any other fault of the rule.
 */
function readFileRule(text: string, notes: string[]): string {
  const parts = text
    .replaceAll(/\s/g, '')
    .replace(/^RRULE:/i, '')
    .split(';')
    .filter((part) => part !== '' && !/^(?:RSCALE=GREGORIAN|SKIP=OMIT)$/i.test(part))
  const kept = parts.filter((part) => !/^(?:X-.*|COUNT=(?:-\d+|0+))$/i.test(part))
  for (const part of parts) if (!kept.includes(part)) notes.push(`has ${cutText(part, 60)} in its RRULE, which is left out`)
  return readRule(kept.join(';'))
}
