import { createHash } from 'node:crypto'
import { busySpan } from '#shared/features/calendar/event-time.ts'
import type { EventStatus } from '#shared/features/calendar/events/schemas.ts'
import { parseComponent, propertiesOf, property, type RawComponent, rawValue, textOf } from '#shared/features/calendar/ics/components.ts'
import { addedStarts, type FileWhen, ownEnds, removedStarts, ruleAfterGap } from '#shared/features/calendar/ics/file-starts.ts'
import {
  type Duration,
  type FileTime,
  instantAfter,
  instantOfFileTime,
  isZoneUnknown,
  readDuration,
  timesOf,
  type ZoneLookup,
  zoneOfTime,
} from '#shared/features/calendar/ics/file-times.ts'
import { zoneByName } from '#shared/features/calendar/ics/file-zones.ts'
import { cleanFileText, type Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { remindersOf } from '#shared/features/calendar/ics/read-alarms.ts'
import { type FilePeople, peopleOf } from '#shared/features/calendar/ics/read-people.ts'
import { readRule, rulePartsOf } from '#shared/features/calendar/series/rule.ts'
import { dateMs, dateText } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** An event read from a file. */
export interface FileEvent extends FilePeople {
  readonly line: number
  readonly uid: string
  readonly sequence: number
  /** DTSTAMP, which orders two versions with the same sequence number. */
  readonly stamp: string
  readonly when: FileWhen
  /** The zones of the calendar that holds the event. */
  readonly zoneLookup: ZoneLookup
  /** Of a changed occurrence, its original start: a date or a local time. */
  readonly original: FileTime | undefined
  /** Whether the change is of all later occurrences too (RANGE=THISANDFUTURE). */
  readonly isForLater: boolean
  readonly recurrence: string | null
  /** Starts added to and removed from the rule, in the local time of the event. */
  readonly rdates: readonly number[]
  readonly exdates: readonly number[]
  /** Ends of the occurrences that have a length of their own, by their starts. */
  readonly ownEnds: ReadonlyMap<number, number>
  readonly title: string
  readonly description: string
  readonly location: string
  readonly status: EventStatus
  readonly isPrivate: boolean
  readonly isFree: boolean
  readonly reminders: number[] | null
  /** Warnings about parts that could not be imported. */
  readonly notes: readonly string[]
}

const [maxRdates, maxExdates] = [2_000, 10_000]

/** Properties that an event may have only once (RFC 5545, 3.6.1). */
const singleProperties = ['uid', 'dtstart', 'dtend', 'duration', 'recurrence-id', 'summary', 'status'] as const

/** Reads an event. Throws an Error or a Problem that says which part cannot be read. */
export async function readFileEvent(raw: RawComponent, zoneLookup: ZoneLookup, budget: ComputeBudget): Promise<FileEvent> {
  const component = await parseComponent(raw, budget)
  const notes: string[] = []
  const rules = rawValue(raw, 'RRULE').filter((rule) => rule !== '')
  if (rules.length > 1) notes.push('has several RRULE: the first one counts')
  if (rawValue(raw, 'EXRULE').length > 0) notes.push('has EXRULE, which is left out')
  for (const name of singleProperties)
    if (propertiesOf(component, name).length > 1) notes.push(`has several ${name.toUpperCase()}: the first one counts`)
  const rule = rules[0] === undefined ? null : readFileRule(rules[0], notes)
  const when = readFileWhen(component, rule, zoneLookup, notes)
  const rdates = addedStarts(component, when, zoneLookup)
  if (rdates.length > maxRdates) throw new Error(`has more than ${maxRdates} RDATEs`)
  const [start] = timesOf(property(component, 'dtstart') as NonNullable<ReturnType<typeof property>>)
  const recurrence = rule === null || !start ? rule : ruleAfterGap(rule, start, when)
  const exdates = [...new Set(removedStarts(component, when, { rule: recurrence, rdates }, zoneLookup))]
  if (exdates.length > maxExdates) throw new Error(`has more than ${maxExdates} EXDATEs`)
  const recurrenceId = property(component, 'recurrence-id')
  const original = recurrenceId && timesOf(recurrenceId)[0]
  if (original && (recurrence !== null || rdates.length > 0)) notes.push('repeats beside its RECURRENCE-ID, which is left out')
  const repeats = !original && (recurrence !== null || rdates.length > 0)
  const { start: from, end: to } = busySpan(when, when.zone)
  return {
    line: raw.line,
    uid: uidOf(component) || contentUid(raw),
    sequence: sequenceOf(component),
    stamp: textOf(component, 'dtstamp'),
    when,
    zoneLookup,
    original,
    isForLater: isForLater(component),
    // RDATEs alone also make a series: its rule gives only the first start.
    recurrence: repeats ? (recurrence ?? 'FREQ=DAILY;COUNT=1') : null,
    rdates: original ? [] : rdates,
    exdates: original ? [] : exdates,
    ownEnds: original ? new Map() : ownEnds(component, when, zoneLookup),
    title: truncate(textOf(component, 'summary'), 300, 'SUMMARY', notes) || 'Untitled',
    description: descriptionOf(component, notes),
    location: truncate(textOf(component, 'location'), 500, 'LOCATION', notes),
    status: statusOf(textOf(component, 'status')),
    isPrivate: /^(?:private|confidential)$/i.test(textOf(component, 'class')),
    isFree: /^transparent$/i.test(textOf(component, 'transp')),
    reminders: remindersOf(component, { start: from, end: to, zone: when.zone, repeats }, notes),
    ...peopleOf(component, notes),
    notes,
  }
}

/** What a METHOD:CANCEL names: an event, or occurrences of it. */
export interface FileCancel extends Pick<FileEvent, 'line' | 'uid' | 'sequence' | 'original' | 'isForLater' | 'zoneLookup'> {}

/** Reads the event of a METHOD:CANCEL, which need not have a time (RFC 5546, 3.2.5). Throws an Error for one without a UID. */
export async function readCancel(raw: RawComponent, zoneLookup: ZoneLookup, budget: ComputeBudget): Promise<FileCancel> {
  const component = await parseComponent(raw, budget)
  const uid = uidOf(component)
  if (uid === '') throw new Error('cancels an event without a UID')
  const recurrenceId = property(component, 'recurrence-id')
  return {
    line: raw.line,
    uid,
    sequence: sequenceOf(component),
    original: recurrenceId && timesOf(recurrenceId)[0],
    isForLater: isForLater(component),
    zoneLookup,
  }
}

/** Orders the versions of an event in a file. */
export const byNewestFirst = (a: FileEvent, b: FileEvent): number =>
  b.sequence - a.sequence || (b.stamp < a.stamp ? -1 : b.stamp > a.stamp ? 1 : b.line - a.line)

const sequenceOf = (component: Jcal): number => Math.min(2_000_000_000, Math.max(0, Math.trunc(Number(textOf(component, 'sequence')) || 0)))

const isForLater = (component: Jcal): boolean => /^thisandfuture$/i.test(property(component, 'recurrence-id')?.[1].range ?? '')

function readFileWhen(component: Jcal, recurrence: string | null, zoneLookup: ZoneLookup, notes: string[]): FileWhen {
  const dtstart = property(component, 'dtstart')
  const start = dtstart && timesOf(dtstart)[0]
  if (!start) throw new Error('has no DTSTART')
  const dtend = property(component, 'dtend')
  const end = dtend && timesOf(dtend)[0]
  const text = textOf(component, 'duration')
  const duration = text === '' ? undefined : readDuration(text)
  if (text !== '' && (duration === undefined || duration.days < 0 || duration.ms < 0))
    throw new Error(`has an invalid DURATION: ${cutText(text, 60)}`)
  if (end && duration !== undefined) notes.push('has DTEND and DURATION: DTEND counts')
  if (start.isDate) return readDates(start, end, duration, zoneLookup)
  for (const tzid of new Set([start, ...(end ? [end] : [])].flatMap((time) => (isZoneUnknown(time, zoneLookup) ? [time.tzid] : []))))
    notes.push(`is in the unknown time zone ${tzid}, which the file does not describe: it is read as ${zoneLookup.floating}`)
  const { zone, shownZone } = readZoneOfStart(start, recurrence, zoneLookup, notes)
  const from = instantOfFileTime(start, zone, zoneLookup)
  // A floating end is in the zone of the start.
  const endZone = end && (end.tzid === undefined && !end.isUtc ? zone : zoneOfTime(end, end.wall, zoneLookup))
  const to = end
    ? end.isDate
      ? instantOfFileTime({ ...end, tzid: start.tzid, isUtc: start.isUtc }, zone, zoneLookup)
      : instantOfFileTime(end, endZone, zoneLookup)
    : duration
      ? instantAfter(start, zone, duration, zoneLookup)
      : from
  if (to < from) throw new Error('ends before it starts')
  return { allDay: false, start: from, end: to, zone: shownZone, tzid: zone === undefined ? undefined : start.tzid }
}

/** The IANA zone of an event, undefined where only its instant is kept, and the zone that it is stored with. */
function readZoneOfStart(start: FileTime, recurrence: string | null, zoneLookup: ZoneLookup, notes: string[]) {
  const zone = zoneOfTime(start, spanEnd(start, recurrence), zoneLookup)
  const named = start.tzid === undefined ? undefined : zoneByName(start.tzid)
  if (zone !== undefined) {
    const isDescribed = !start.isUtc && zoneLookup.inFile.has(start.tzid ?? '')
    if (isDescribed && named !== undefined && zone !== named)
      notes.push(`is in ${start.tzid}, which the file describes with other offsets: it is read as ${zone}`)
    return { zone, shownZone: zone }
  }
  if (recurrence === null) {
    notes.push(`is in the time zone ${start.tzid}, which matches no IANA zone: its instant is kept`)
    return { zone, shownZone: named ?? 'UTC' }
  }
  if (named === undefined) throw new Error(`repeats in the time zone ${start.tzid}, which matches no IANA zone`)
  notes.push(`repeats in ${start.tzid}, which the file describes with offsets that no IANA zone has: it is read as ${named}`)
  return { zone: named, shownZone: named }
}

function readDates(start: FileTime, end: FileTime | undefined, duration: Duration | undefined, zoneLookup: ZoneLookup): FileWhen {
  const days = duration ? duration.days + Math.ceil(duration.ms / dayMs) : 1
  const last = end ? dateMs(dateText(end.wall)) : start.wall + Math.max(1, days) * dayMs
  if (last < start.wall) throw new Error('ends before it starts')
  return { allDay: true, start: start.wall, end: Math.max(last, start.wall + dayMs), zone: zoneLookup.floating, tzid: undefined }
}

/** The last local time whose zone offset matters: for a series the end of its rule, at most two years after its start. */
function spanEnd(start: FileTime, recurrence: string | null): number {
  if (recurrence === null) return start.wall
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})/.exec(rulePartsOf(recurrence).get('UNTIL') ?? '') ?? []
  const until = year === undefined ? Number.POSITIVE_INFINITY : Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return Math.max(start.wall, Math.min(until, start.wall + 730 * dayMs))
}

/** Bytes of a UID that its unique index can hold beside the ids: an index row has 2,704 bytes at most. */
export const maxUidBytes = 2_600

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

/** Links of conferences and pages that are kept. */
const maxLinks = 10

/** DESCRIPTION, followed by a line for each link of URL, CONFERENCE and X-GOOGLE-CONFERENCE that it does not hold. */
function descriptionOf(component: Jcal, notes: string[]): string {
  const links = ['url', 'conference', 'x-google-conference']
    .flatMap((name) => propertiesOf(component, name))
    .map(([, , , value]) => cutText(cleanFileText(String(value ?? '')).replaceAll(/\s/g, ''), 2_000))
  const text = cleanFileText(textOf(component, 'description'))
  const kept = cutText(text, maxDescription)
  const missing = [...new Set(links)].filter((link) => link !== '' && !holdsLink(kept, link)).slice(0, maxLinks)
  const lines = missing.map((link) => `\n${link}`).join('')
  return `${truncate(text, maxDescription - lines.length, 'DESCRIPTION', notes)}${lines}`.replace(/^\n/, '')
}

const maxDescription = 20_000

/** Whether a text holds a link, not only a longer one that begins alike. */
function holdsLink(text: string, link: string): boolean {
  for (let at = text.indexOf(link); at >= 0; at = text.indexOf(link, at + link.length))
    if (!/^(?:[\w/?#=&%~+-]|[.:;,@!]\w)/.test(text.slice(at + link.length, at + link.length + 2))) return true
  return false
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
