import { charsetOf } from '#shared/features/calendar/ics/charset.ts'
import { maxEvents, type RawCalendar, type RawComponent, splitCalendars } from '#shared/features/calendar/ics/components.ts'
import type { ZoneLookup } from '#shared/features/calendar/ics/file-times.ts'
import { prepareZones, readFileZones, zoneByName } from '#shared/features/calendar/ics/file-zones.ts'
import { type FileCancel, type FileEvent, readCancel, readFileEvent } from '#shared/features/calendar/ics/read-event.ts'
import { splitRanges } from '#shared/features/calendar/ics/split-ranges.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** A part of a file that was not imported as written. `line` is 0 for the whole file. */
export interface ImportWarning {
  readonly line: number
  readonly uid: string
  readonly message: string
}

/** What a file holds of one UID. */
export interface FileSet {
  readonly uid: string
  readonly events: readonly FileEvent[]
  readonly cancels: readonly FileCancel[]
}

/** A file that was read, and warnings. */
export interface ReadFile {
  readonly sets: readonly FileSet[]
  readonly warnings: readonly ImportWarning[]
  /** Number of UIDs of which no event could be read; an unreadable event without a UID counts as one. */
  readonly unreadCount: number
}

/** An occurrence with a length of its own is stored as an event. */
const tooManyLengths = `has RDATE periods of another length, of which a file may hold ${maxEvents}: they are as long as the event`

/** Messages between organizers and guests, which are no events (RFC 5546). */
const messageMethods: ReadonlySet<string> = new Set(['REPLY', 'COUNTER', 'REFRESH', 'DECLINECOUNTER'])

/** The budget and the content type of a file. */
interface FileInput {
  readonly contentType: string
  readonly budget: ComputeBudget
}

/**
 * Reads an iCalendar file of any program. Events that cannot be read are left out with a warning. `zone` is that of floating times where
 * a calendar of the file names none. Throws VALIDATION_ERROR for a file without a calendar, with an unclosed one, with more than 2,000
 * events, with bytes that its charset does not have, and beyond the budget.
 */
export async function readIcs(bytes: Uint8Array, zone: string, { contentType, budget }: FileInput): Promise<ReadFile> {
  const calendars = await splitCalendars(bytes, charsetOf(contentType), budget)
  const others = new Set(calendars.flatMap(({ otherNames }) => [...otherNames]))
  const warnings: ImportWarning[] =
    others.size > 0 ? [{ line: 0, uid: '', message: `left out ${[...others].slice(0, 10).join(', ')}: not an event` }] : []
  const [events, cancels]: [FileEvent[], FileCancel[]] = [[], []]
  const failed = new Set<string>()
  let ownLengths = 0
  const fail = (raw: RawComponent, message: string) => {
    const uid = cutText(/^UID[^:]*:(.*)$/im.exec(raw.lines.join('\n'))?.[1]?.trim() ?? '', 1_000)
    failed.add(uid === '' ? `line ${raw.line}` : uid)
    warnings.push({ line: raw.line, uid, message: cutText(message, 300) })
  }
  for (const calendar of calendars) {
    budget.takeSteps(stepsPerCalendar)
    await budget.pause()
    const zoneLookup = await zonesOf(calendar, zone, budget)
    const method = propertyOf(calendar, 'METHOD').toUpperCase()
    for (const raw of calendar.components.filter(({ name }) => name === 'VEVENT')) {
      await budget.pause()
      if (messageMethods.has(method)) {
        fail(raw, `is a METHOD:${method}, a message about an event, which is left out`)
        continue
      }
      await prepareZones(raw, zoneLookup.inFile, budget)
      try {
        if (method === 'CANCEL') cancels.push(await readCancel(raw, zoneLookup, budget))
        else {
          const event = await readFileEvent(raw, zoneLookup, budget)
          const isTooMany = ownLengths + event.ownEnds.size > maxEvents
          ownLengths += isTooMany ? 0 : event.ownEnds.size
          events.push(isTooMany ? { ...event, ownEnds: new Map(), notes: [...event.notes, tooManyLengths] } : event)
        }
      } catch (error) {
        // Beyond the budget the file is refused.
        budget.takeSteps(0)
        fail(raw, String((error as Error).message))
      }
    }
  }
  const bySet = splitRanges(
    Map.groupBy(events, ({ uid }) => uid),
    budget,
  )
  for (const set of bySet.values())
    for (const { line, uid, notes } of set) for (const message of notes) warnings.push({ line, uid, message })
  const cancelsByUid = Map.groupBy(cancels, ({ uid }) => uid)
  const sets = [...new Set([...bySet.keys(), ...cancelsByUid.keys()])].map((uid) => ({
    uid,
    events: bySet.get(uid) ?? [],
    cancels: cancelsByUid.get(uid) ?? [],
  }))
  const read = new Set(sets.map(({ uid }) => uid))
  return { sets, warnings: warnings.sort((a, b) => a.line - b.line), unreadCount: [...failed].filter((uid) => !read.has(uid)).length }
}

/** Steps of an empty calendar. */
const stepsPerCalendar = 10

async function zonesOf(calendar: RawCalendar, zone: string, budget: ComputeBudget): Promise<ZoneLookup> {
  const take = (steps: number) => budget.takeSteps(steps)
  const floating = zoneByName(propertyOf(calendar, 'X-WR-TIMEZONE')) ?? zone
  return { inFile: await readFileZones(calendar.components, budget), floating, preferred: [floating, zone], take }
}

/** The value of a calendar's own property; empty when it is missing. */
function propertyOf({ properties }: RawCalendar, name: string): string {
  const pattern = new RegExp(`^${name}(?:;[^:]*)?:(.*)$`, 'i')
  return properties.map((line) => pattern.exec(line)?.[1]?.trim()).find((value) => value !== undefined) ?? ''
}
