import { splitComponents } from '#shared/features/calendar/ics/components.ts'
import type { ZoneLookup } from '#shared/features/calendar/ics/file-times.ts'
import { readFileZones, zoneByName } from '#shared/features/calendar/ics/file-zones.ts'
import { type FileEvent, readFileEvent } from '#shared/features/calendar/ics/read-event.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** A part of a file that was not imported as written. `line` is 0 for the whole file. */
export interface ImportWarning {
  readonly line: number
  readonly uid: string
  readonly message: string
}

/** A file that was read: the events of each UID, and warnings. */
export interface ReadFile {
  readonly byUid: readonly (readonly [string, readonly FileEvent[]])[]
  readonly zoneLookup: ZoneLookup
  readonly warnings: readonly ImportWarning[]
  /** Number of UIDs of which no event could be read; an unreadable event without a UID counts as one. */
  readonly unreadCount: number
}

/** Events that one file may hold (document 3, Limits). */
const maxEvents = 2_000

/**
 * Reads an iCalendar file of any program. Events that cannot be read are left out with a warning. `zone` is that of floating times where
 * the file names none. Throws VALIDATION_ERROR for a file without a calendar, with an unclosed one, or with more than 2,000 events.
 */
export function readIcs(bytes: Uint8Array, zone: string): ReadFile {
  const { components, properties } = splitComponents(bytes)
  const raws = components.filter(({ name }) => name === 'VEVENT')
  if (raws.length > maxEvents) throw problem('VALIDATION_ERROR', `file must hold at most ${maxEvents} events, got ${raws.length}`)
  const [, named = ''] = /^X-WR-TIMEZONE[^:]*:(.*)$/im.exec(properties.join('\n')) ?? []
  const floating = zoneByName(named) ?? zone
  const zoneLookup = { inFile: readFileZones(components), floating, preferred: [floating, zone] }
  const others = new Set(components.map(({ name }) => name).filter((name) => name !== 'VEVENT' && name !== 'VTIMEZONE'))
  const warnings: ImportWarning[] =
    others.size > 0 ? [{ line: 0, uid: '', message: `left out ${[...others].slice(0, 10).join(', ')}: not an event` }] : []
  const events: FileEvent[] = []
  const failed = new Set<string>()
  for (const raw of raws) {
    try {
      const event = readFileEvent(raw, zoneLookup)
      events.push(event)
      for (const message of event.notes) warnings.push({ line: raw.line, uid: event.uid, message })
    } catch (error) {
      const uid = cutText(/^UID[^:]*:(.*)$/im.exec(raw.lines.join('\n'))?.[1]?.trim() ?? '', 1_000)
      failed.add(uid === '' ? `line ${raw.line}` : uid)
      warnings.push({ line: raw.line, uid, message: cutText(String((error as Error).message), 300) })
    }
  }
  const byUid = [...Map.groupBy(events, ({ uid }) => uid)]
  const read = new Set(byUid.map(([uid]) => uid))
  return { byUid, zoneLookup, warnings, unreadCount: [...failed].filter((uid) => !read.has(uid)).length }
}
