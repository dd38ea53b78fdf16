import type { RawComponent } from '#shared/features/calendar/ics/components.ts'
import type { Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { parseComponent, propertiesOf, rawValue, textOf } from '#shared/features/calendar/ics/parse.ts'
import { windowsZone } from '#shared/features/calendar/ics/windows-zones.ts'
import { listStarts } from '#shared/features/calendar/series/expand.ts'
import { readRule } from '#shared/features/calendar/series/rule.ts'
import { dayMs, toWallClock } from '#shared/features/calendar/time.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'

/** A zone that a file describes: its offset from UTC in milliseconds, by local time in milliseconds. */
export type FileZone = (wall: number) => number

const zoneByLowercaseName = new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]))

/** The IANA zone that a TZID names: directly, at the end of a path, or by its Windows name. Undefined for none. */
export function zoneByName(tzid: string): string | undefined {
  const name = tzid.trim().replace(/^"|"$/g, '')
  if (isTimeZone(name)) return name
  const known = zoneByLowercaseName.get(name.toLowerCase()) ?? windowsZone(name)
  if (known) return known
  const steps = name.split('/').filter((step) => step !== '')
  for (const length of [3, 2]) {
    const end = steps.slice(-length).join('/')
    if (steps.length > length && isTimeZone(end)) return end
  }
  return undefined
}

/** Reads the zones that a file describes, by TZID. Zones that cannot be read are left out. */
export function readFileZones(components: readonly RawComponent[]): Map<string, FileZone> {
  const zones = new Map<string, FileZone>()
  for (const raw of components.filter(({ name }) => name === 'VTIMEZONE').slice(0, 200)) {
    try {
      const component = parseComponent(raw)
      zones.set(textOf(component, 'tzid'), readZone(component, raw))
    } catch {
      // Events that name this zone are read as if the file did not describe it.
    }
  }
  return zones
}

interface Observance {
  readonly offset: number
  readonly before: number
  readonly start: number
  readonly rule: string | undefined
  readonly rdates: readonly number[]
}

function readZone([, , observances]: Jcal, raw: RawComponent): FileZone {
  const rules = rulesOf(raw)
  const parsed = observances.map((one, index) => readObservance(one, rules[index]))
  return (wall) => {
    const changes = parsed.map((one) => ({ one, at: lastChange(one, wall) })).filter(({ at }) => at !== undefined)
    const latest = changes.sort((a, b) => (b.at ?? 0) - (a.at ?? 0))[0]
    const first = [...parsed].sort((a, b) => a.start - b.start)[0]
    return latest?.one.offset ?? first?.before ?? 0
  }
}

/** The RRULE of each observance of a zone, unparsed and in order. */
function rulesOf({ lines }: RawComponent): (string | undefined)[] {
  const rules: (string | undefined)[] = []
  let inside: string[] | undefined
  for (const line of lines) {
    if (/^BEGIN\s*:/i.test(line)) inside = []
    else if (/^END\s*:/i.test(line)) {
      rules.push(inside && rawValue({ name: '', line: 0, lines: inside }, 'RRULE')[0])
      inside = undefined
    } else inside?.push(line)
  }
  return rules
}

function readObservance(component: Jcal, rule: string | undefined): Observance {
  const rdates = propertiesOf(component, 'rdate').flatMap(([, , , ...values]) => values.map((value) => parseLocalTime(String(value))))
  const readable = rule === undefined ? undefined : undefinedOnError(() => readRule(rule.replace(/;?UNTIL=[^;]*/i, '')))
  return {
    offset: offsetMs(textOf(component, 'tzoffsetto')),
    before: offsetMs(textOf(component, 'tzoffsetfrom')),
    start: parseLocalTime(textOf(component, 'dtstart')),
    rule: readable,
    rdates: rdates.filter((ms) => !Number.isNaN(ms)).slice(0, 500),
  }
}

function undefinedOnError<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const parseLocalTime = (text: string): number => Date.parse(`${text.slice(0, 19)}Z`)

function offsetMs(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /^([+-])(\d{2}):?(\d{2}):?(\d{2})?$/.exec(text) ?? []
  return (sign === '-' ? -1 : 1) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
}

/** The last local time, up to `wall`, at which an observance began; undefined when it had not begun. */
function lastChange({ start, rule, rdates }: Observance, wall: number): number | undefined {
  if (Number.isNaN(start)) return undefined
  const began = [start, ...rdates].filter((at) => at <= wall)
  if (rule === undefined) return began.length > 0 ? Math.max(...began) : undefined
  const series = { allDay: false, start, end: start, zone: 'UTC', rule, rdates: [], exdates: [] }
  const recent = listStarts(series, Math.max(start, wall - 400 * dayMs), wall + 1, 50)
  return recent.at(-1) ?? (began.length > 0 ? Math.max(...began) : undefined)
}

const matchCache = new Map<string, string | null>()

/**
 * The IANA zone that has the offsets of a file's zone over a span of local time; undefined when none has. The zones in `first` are tried
 * before all others. Offsets are compared every 30 days, for two years at most.
 */
export function zoneByOffsets(tzid: string, zone: FileZone, from: number, to: number, first: readonly string[]): string | undefined {
  const months = Math.min(24, Math.max(1, Math.ceil((to - from) / (30 * dayMs))))
  const samples = Array.from({ length: months + 1 }, (_, index) => from + Math.min(index * 30 * dayMs, Math.max(0, to - from)))
  const offsets = samples.map((wall) => zone(wall))
  const key = `${tzid} ${offsets.join()} ${from} ${first.join()}`
  const known = matchCache.get(key)
  if (known !== undefined) return known ?? undefined
  if (matchCache.size > 500) matchCache.clear()
  const fits = (name: string) => samples.every((wall, index) => toWallClock(wall - (offsets[index] ?? 0), name) === wall)
  const found = [...first.filter(isTimeZone), ...zoneByLowercaseName.values()].find(fits)
  matchCache.set(key, found ?? null)
  return found
}
