import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ICAL from 'ical.js'
import PostalMime from 'postal-mime'
import { dateMs, dateText, fromWallClock, instantText } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { at } from '#test/features/calendar/support.ts'
import type { World } from '#test/support/world.ts'

/** The events that a calendar program keeps of one UID. */
interface Kept {
  master: ICAL.Component | undefined
  readonly overrides: Map<string, ICAL.Component>
  /** Cancellations by RECURRENCE-ID, with the empty text for the whole event: older messages are ignored. */
  readonly cancelled: Map<string, ICAL.Component>
}

/** The calendar program of one guest, which knows nothing but the mails that it was given (RFC 5546). */
export interface GuestProgram {
  /** Applies the next mail's iCalendar object. Returns the objections of a strict program. */
  readonly take: (ics: ICAL.Component) => string[]
  /** The occurrences until a time, as `title start end`, with starts as the API writes them. */
  readonly shows: (until: number) => string[]
}

/** An empty calendar. Messages are applied as clients do: by UID and RECURRENCE-ID, unless SEQUENCE and DTSTAMP say that a newer one came. */
export function startGuestProgram(): GuestProgram {
  const byUid = new Map<string, Kept>()
  const take = (ics: ICAL.Component): string[] => {
    const events = ics.getAllSubcomponents('vevent')
    const uid = String(events[0]?.getFirstPropertyValue('uid'))
    const kept = byUid.get(uid) ?? { master: undefined, overrides: new Map(), cancelled: new Map() }
    byUid.set(uid, kept)
    const method = String(ics.getFirstPropertyValue('method'))
    return method === 'CANCEL' ? cancel(kept, events) : request(kept, events)
  }
  return { take, shows: (until) => [...byUid.values()].flatMap((kept) => shown(kept, until)).sort() }
}

function request(kept: Kept, events: readonly ICAL.Component[]): string[] {
  const [first] = events
  if (!first || originalOf(first) !== '') return events.flatMap((event) => replaceOne(kept, event))
  if (isOlder(first, kept.master) || isOlder(first, kept.cancelled.get(''))) return ['an older REQUEST of the whole']
  const fallen = events.slice(1).filter((event) => isOlder(event, kept.overrides.get(originalOf(event))))
  kept.master = first
  kept.overrides.clear()
  kept.cancelled.clear()
  for (const event of events.slice(1)) kept.overrides.set(originalOf(event), event)
  return fallen.map((event) => `SEQUENCE of ${originalOf(event)} has fallen`)
}

function replaceOne(kept: Kept, event: ICAL.Component): string[] {
  const original = originalOf(event)
  const known = kept.overrides.get(original) ?? kept.cancelled.get(original) ?? kept.master ?? kept.cancelled.get('')
  if (isOlder(event, known)) return [`an older REQUEST of ${original}`]
  kept.overrides.set(original, event)
  kept.cancelled.delete(original)
  return []
}

function cancel(kept: Kept, events: readonly ICAL.Component[]): string[] {
  return events.flatMap((event) => {
    const original = originalOf(event)
    const known = original === '' ? [kept.master, ...kept.overrides.values()] : [kept.overrides.get(original) ?? kept.master]
    if (known.some((one) => isOlder(event, one))) return [`an older CANCEL of ${original || 'the whole'}`]
    kept.cancelled.set(original, event)
    kept.overrides.delete(original)
    if (original === '') {
      kept.master = undefined
      kept.overrides.clear()
    }
    return []
  })
}

const numberOf = (event: ICAL.Component): number => Number(event.getFirstPropertyValue('sequence') ?? 0)
const stampOf = (event: ICAL.Component): string => String(event.getFirstPropertyValue('dtstamp'))

function isOlder(event: ICAL.Component, known: ICAL.Component | undefined): boolean {
  if (!known) return false
  return numberOf(event) < numberOf(known) || (numberOf(event) === numberOf(known) && stampOf(event) < stampOf(known))
}

const originalOf = (event: ICAL.Component): string => {
  const property = event.getFirstProperty('recurrence-id')
  return property ? (timesOf(property)[0]?.text ?? '') : ''
}

interface Time {
  readonly ms: number
  readonly isDate: boolean
  readonly zone: string
  /** As the API writes it. */
  readonly text: string
}

const timesOf = (property: ICAL.Property): Time[] =>
  property.getValues().map((value) => {
    const time = value as ICAL.Time
    return timeAt(wallOf(time), time.isDate, property.getFirstParameter('tzid') ?? 'UTC')
  })

const wallOf = ({ year, month, day, hour, minute, second }: ICAL.Time): number => Date.UTC(year, month - 1, day, hour, minute, second)

function timeAt(wall: number, isDate: boolean, zone: string): Time {
  const ms = isDate ? wall : fromWallClock(wall, zone)
  return { ms, isDate, zone, text: isDate ? dateText(ms) : instantText(ms) }
}

function shown({ master, overrides, cancelled }: Kept, until: number): string[] {
  const own = [...overrides.values()].flatMap((event) =>
    lineOf(event, timesOf(event.getFirstProperty('dtstart') as ICAL.Property)[0] as Time),
  )
  if (!master) return own
  const out = new Set([
    ...overrides.keys(),
    ...cancelled.keys(),
    ...master
      .getAllProperties('exdate')
      .flatMap(timesOf)
      .map(({ text }) => text),
  ])
  const beside = master.getAllProperties('rdate').flatMap(timesOf)
  const starts = new Map([...startsOf(master, until), ...beside].map((start) => [start.text, start]))
  return [...[...starts.values()].filter(({ text }) => !out.has(text)).flatMap((start) => lineOf(master, start)), ...own]
}

function lineOf(event: ICAL.Component, start: Time): string[] {
  if (String(event.getFirstPropertyValue('status')) === 'CANCELLED') return []
  const [first] = timesOf(event.getFirstProperty('dtstart') as ICAL.Property)
  const end = event.getFirstProperty('dtend')
  const length = (end ? (timesOf(end)[0] as Time).ms : (first as Time).ms) - (first as Time).ms
  const last = start.isDate ? dateText(start.ms + length) : instantText(start.ms + length)
  return [`${event.getFirstPropertyValue('summary')} ${start.text} ${last}`]
}

/** The starts of a rule by the clock of its zone. */
function startsOf(master: ICAL.Component, until: number): Time[] {
  const property = master.getFirstProperty('dtstart') as ICAL.Property
  const [first] = timesOf(property) as [Time]
  const rule = master.getFirstPropertyValue('rrule') as ICAL.Recur | null
  if (!rule) return [first]
  const local = ICAL.Time.fromData({ ...(property.getFirstValue() as ICAL.Time).toJSON(), timezone: undefined } as never)
  const bounded = rule.clone()
  const last = rule.until ? utcOf(rule.until, first) : Number.POSITIVE_INFINITY
  bounded.until = null
  const starts: Time[] = []
  const iterator = bounded.iterator(local)
  for (let next = iterator.next(); next; next = iterator.next()) {
    const time = timeAt(wallOf(next), first.isDate, first.zone)
    if (time.ms >= until || time.ms > last) break
    starts.push(time)
  }
  return starts
}

/** An UNTIL as an instant; a date is the last one. */
const utcOf = (until: ICAL.Time, { isDate }: Time): number => (isDate ? dateMs(until.toString().slice(0, 10)) : wallOf(until))

/** The expected view of a guest: the occurrences in a window that the API lists, that are not cancelled and that invite it. */
export async function organizersView(w: World, guest: string, from: string, to: string): Promise<string[]> {
  const { data } = await w.org.owner.get(at(w, `/events?from=${from}&to=${to}`))
  const invited = new Map<string, boolean>()
  const lines: string[] = []
  for (const { event_id, title, start, end, status } of data.events) {
    if (!invited.has(event_id)) {
      const { data: event } = await w.org.owner.get(at(w, `/events/${event_id}`))
      invited.set(
        event_id,
        event.attendees.some(({ email }: { email: string }) => email === guest),
      )
    }
    if (invited.get(event_id) && status !== 'cancelled') lines.push(`${title} ${start} ${end}`)
  }
  return lines.sort()
}

/** The end of a window of days as an instant. */
export const endOf = (day: string): number => dateMs(day) + dayMs

/** Calendar programs of some guests, fed by the mails that a world sends. */
export interface GuestPrograms {
  /** Delivers new mails to each program in their order. Returns the objections of strict programs, and the subjects. */
  readonly deliver: () => Promise<{ readonly problems: readonly string[]; readonly subjects: readonly string[] }>
  /** The differences between each guest's program and the organizer's list from the API, in a window of days. */
  readonly differences: (from: string, to: string) => Promise<string[]>
}

export function startGuestPrograms(w: World, guests: readonly string[]): GuestPrograms {
  const programs = new Map(guests.map((guest) => [guest, startGuestProgram()]))
  const seen = new Set<string>()
  const folder = join(w.config.dataDir, 'mail')
  const deliver = async () => {
    await w.drain()
    const [problems, subjects]: [string[], string[]] = [[], []]
    const names = (await readdir(folder).catch(() => [])).filter((name) => !seen.has(name)).sort()
    for (const name of names) {
      seen.add(name)
      const { to, subject = '', attachments } = await PostalMime.parse(await readFile(join(folder, name)))
      const address = to?.[0]?.address?.toLowerCase() ?? ''
      const calendar = attachments.find(({ mimeType }) => mimeType === 'text/calendar')
      const program = programs.get(address)
      if (!program || !calendar) continue
      const ics = new ICAL.Component(ICAL.parse(new TextDecoder().decode(calendar.content as ArrayBuffer)))
      subjects.push(`${address.split('@')[0]}: ${subject}`)
      problems.push(...program.take(ics).map((problem) => `${address}: ${problem}`))
    }
    return { problems, subjects }
  }
  const differences = async (from: string, to: string) => {
    const found: string[] = []
    for (const [guest, program] of programs) {
      const expected = await organizersView(w, guest, from, to)
      const shown = program.shows(endOf(to))
      found.push(...shown.filter((line) => !expected.includes(line)).map((line) => `${guest} has ${line}`))
      found.push(...expected.filter((line) => !shown.includes(line)).map((line) => `${guest} lacks ${line}`))
      if (shown.length !== expected.length) found.push(`${guest} has ${shown.length} of ${expected.length}`)
    }
    return found
  }
  return { deliver, differences }
}
