import { parseComponent, propertiesOf, type RawComponent, rawValue, textOf } from '#shared/features/calendar/ics/components.ts'
import type { Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { lastInstantOf, listStarts, type Series, utcBasicText } from '#shared/features/calendar/series/expand.ts'
import { readRule, rulePartsOf, ruleText } from '#shared/features/calendar/series/rule.ts'
import type { TakeSteps } from '#shared/features/calendar/series/rule-days.ts'
import { fromWallClock } from '#shared/features/calendar/time.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** A zone that a file describes. Local times and offsets from UTC are in milliseconds. */
export interface FileZone {
  /** The offset at a local time. A time that a clock change skips has the offset before it, one that it repeats is the first. */
  readonly offsetAt: (wall: number) => number
  /** Whether the description has begun at a local time. */
  readonly describes: (wall: number) => boolean
  /** The local times in a span at which the offset changes. */
  readonly changesIn: (from: number, to: number) => number[]
  /** IANA zones that were found by the offsets. */
  readonly matches: Map<string, string | null>
}

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

/** Reads the zones that a calendar of a file describes, by TZID. Zones that cannot be read are left out. */
export function readFileZones(components: readonly RawComponent[], take: TakeSteps): Map<string, FileZone> {
  const zones = new Map<string, FileZone>()
  for (const raw of components.filter(({ name }) => name === 'VTIMEZONE').slice(0, maxZones)) {
    try {
      const component = parseComponent(raw)
      zones.set(textOf(component, 'tzid'), readZone(component, raw, take))
    } catch {
      // Events that name this zone are read as if the file did not describe it.
    }
  }
  return zones
}

/** Zones of a calendar and observances of a zone that are read. */
const [maxZones, maxObservances] = [200, 500]

/** A change of the clock, by the local time before it. */
interface Onset {
  readonly at: number
  readonly before: number
  readonly after: number
}

interface Observance {
  readonly before: number
  readonly after: number
  /** DTSTART and RDATEs. */
  readonly starts: readonly number[]
  readonly series: Series | undefined
}

function readZone([, , observances]: Jcal, raw: RawComponent, take: TakeSteps): FileZone {
  const rules = rulesOf(raw)
  const parsed = observances.slice(0, maxObservances).map((one, index) => readObservance(one, rules[index]))
  const known = parsed.filter(({ starts }) => starts.length > 0)
  const first = known.flatMap(({ starts, before }) => starts.map((at) => ({ at, before }))).sort((a, b) => a.at - b.at)[0]
  if (!first) throw new Error('describes no time')
  const byDecade = new Map<number, readonly Onset[]>()
  const onsetsNear = (wall: number): readonly Onset[] => {
    const decade = Math.floor(new Date(wall).getUTCFullYear() / 10)
    const onsets = byDecade.get(decade) ?? onsetsOf(known, yearStart(decade * 10), yearStart(decade * 10 + 10), take)
    byDecade.set(decade, onsets)
    return onsets
  }
  return {
    matches: new Map(),
    describes: (wall) => wall >= first.at,
    offsetAt: (wall) => {
      const onset = onsetsNear(wall).findLast(({ at }) => at <= wall)
      if (!onset) return first.before
      return wall - onset.at < onset.after - onset.before ? onset.before : onset.after
    },
    changesIn: (from, to) =>
      [from, to].flatMap(onsetsNear).flatMap(({ at, before, after }) => (at > from && at < to && before !== after ? [at] : [])),
  }
}

const yearStart = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1)

/** The onsets in a span, after the last one of each observance before it, in order of time. */
function onsetsOf(observances: readonly Observance[], from: number, to: number, take: TakeSteps): Onset[] {
  const onsets = observances.flatMap(({ before, after, starts, series }) => {
    take(1 + starts.length / 10)
    const fixed = starts.filter((at) => at < to)
    const repeated = series ? [...lastStartBefore(series, from, take), ...listStarts(series, from, to, maxOnsets, take)] : []
    return [...fixed, ...repeated].map((at) => ({ at, before, after }))
  })
  return onsets.sort((a, b) => a.at - b.at)
}

/** Onsets of an observance in ten years: clocks change a few times a year. */
const maxOnsets = 1_000

/** The last start of a rule before a time, as a list; a rule that ended or rests for years is searched from its beginning. */
function lastStartBefore(series: Series, wall: number, take: TakeSteps): number[] {
  for (const reach of [400 * dayMs, Number.POSITIVE_INFINITY]) {
    const starts = listStarts(series, Math.max(series.start, wall - reach), wall, 10_000, take)
    if (starts.length > 0) return starts.slice(-1)
  }
  return []
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
  const [before, after] = [offsetMs(textOf(component, 'tzoffsetfrom')), offsetMs(textOf(component, 'tzoffsetto'))]
  const start = parseLocalTime(textOf(component, 'dtstart'))
  if (Number.isNaN(start)) return { before, after, starts: [], series: undefined }
  const rdates = propertiesOf(component, 'rdate').flatMap(([, , , ...values]) => values.map((value) => parseLocalTime(String(value))))
  const readable = rule === undefined ? undefined : undefinedOnError(() => untilInLocalTime(readRule(rule), before))
  return {
    before,
    after,
    starts: [start, ...rdates.filter((ms) => !Number.isNaN(ms)).slice(0, 500)],
    series: readable === undefined ? undefined : { allDay: false, start, end: start, zone: 'UTC', rule: readable, rdates: [], exdates: [] },
  }
}

/** UNTIL of an observance is in UTC (RFC 5545, 3.6.5); its onsets are computed in the local time before them. */
function untilInLocalTime(rule: string, before: number): string {
  const parts = rulePartsOf(rule)
  const until = parts.get('UNTIL')
  if (!until?.endsWith('Z')) return rule
  const at = lastInstantOf(until, { allDay: false, zone: 'UTC' })
  return at === undefined ? rule : ruleText(parts, { UNTIL: utcBasicText(at + before) })
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

/**
 * The IANA zone that has the offsets of a file's zone over a span of local time: the one of its name if that fits, else one of `first`, else
 * any; undefined when none has. Compared are the beginning, every 30 days for two years at most, and the days around clock changes.
 */
export function zoneByOffsets(tzid: string, zone: FileZone, from: number, to: number, first: readonly string[], take: TakeSteps) {
  const key = `${tzid} ${from} ${to} ${first.join()}`
  const known = zone.matches.get(key)
  if (known !== undefined) return known ?? undefined
  const months = Math.min(24, Math.max(1, Math.ceil((to - from) / (30 * dayMs))))
  const changes = zone.changesIn(from, Math.min(to, from + 730 * dayMs)).slice(0, 20)
  const samples = [
    ...Array.from({ length: months + 1 }, (_, index) => from + Math.min(index * 30 * dayMs, Math.max(0, to - from))),
    ...changes.flatMap((at) => [at - dayMs, at + dayMs]).filter((wall) => wall > from && wall < to),
  ].map((wall) => ({ wall, at: wall - zone.offsetAt(wall) }))
  const fits = (name: string, compared: typeof samples) =>
    compared.every(({ wall, at }) => {
      take(stepsPerComparison)
      return fromWallClock(wall, name) === at
    })
  const named = zoneByName(tzid)
  // What a file does not describe yet is that of the name.
  const isNamed =
    named !== undefined &&
    fits(
      named,
      samples.filter(({ wall }) => zone.describes(wall)),
    )
  const found = isNamed ? named : [...first.filter(isTimeZone), ...zoneByLowercaseName.values()].find((name) => fits(name, samples))
  zone.matches.set(key, found ?? null)
  return found
}

/** Steps of the conversion of a local time. */
const stepsPerComparison = 10

/** Windows zone names without the ending " Standard Time", each followed by its IANA name (CLDR windowsZones, territory 001). */
const table = `
Dateline Etc/GMT+12 | Aleutian America/Adak | Hawaiian Pacific/Honolulu | Marquesas Pacific/Marquesas | Alaskan America/Anchorage
Pacific America/Los_Angeles | US Mountain America/Phoenix | Mountain America/Denver | Yukon America/Whitehorse
Central America America/Guatemala | Central America/Chicago | Easter Island Pacific/Easter | Canada Central America/Regina
SA Pacific America/Bogota | Eastern America/New_York | Haiti America/Port-au-Prince | Cuba America/Havana
US Eastern America/Indiana/Indianapolis | Turks And Caicos America/Grand_Turk | Paraguay America/Asuncion | Atlantic America/Halifax
Venezuela America/Caracas | Central Brazilian America/Cuiaba | SA Western America/La_Paz | Pacific SA America/Santiago
Newfoundland America/St_Johns | Tocantins America/Araguaina | E. South America America/Sao_Paulo | SA Eastern America/Cayenne
Argentina America/Argentina/Buenos_Aires | Greenland America/Nuuk | Montevideo America/Montevideo | Magallanes America/Punta_Arenas
Saint Pierre America/Miquelon | Bahia America/Bahia | Mid-Atlantic Etc/GMT+2 | Azores Atlantic/Azores | Cape Verde Atlantic/Cape_Verde
GMT Europe/London | Greenwich Atlantic/Reykjavik | Sao Tome Africa/Sao_Tome | Morocco Africa/Casablanca | W. Europe Europe/Berlin
Central Europe Europe/Budapest | Romance Europe/Paris | Central European Europe/Warsaw | W. Central Africa Africa/Lagos
Jordan Asia/Amman | GTB Europe/Bucharest | Middle East Asia/Beirut | Egypt Africa/Cairo | E. Europe Europe/Chisinau | Syria Asia/Damascus
West Bank Asia/Hebron | South Africa Africa/Johannesburg | FLE Europe/Kyiv | Israel Asia/Jerusalem | South Sudan Africa/Juba
Kaliningrad Europe/Kaliningrad | Sudan Africa/Khartoum | Libya Africa/Tripoli | Namibia Africa/Windhoek | Arabic Asia/Baghdad
Turkey Europe/Istanbul | Arab Asia/Riyadh | Belarus Europe/Minsk | Russian Europe/Moscow | E. Africa Africa/Nairobi
Volgograd Europe/Volgograd | Iran Asia/Tehran | Arabian Asia/Dubai | Astrakhan Europe/Astrakhan | Azerbaijan Asia/Baku
Russia Time Zone 3 Europe/Samara | Mauritius Indian/Mauritius | Saratov Europe/Saratov | Georgian Asia/Tbilisi | Caucasus Asia/Yerevan
Afghanistan Asia/Kabul | West Asia Asia/Tashkent | Qyzylorda Asia/Qyzylorda | Ekaterinburg Asia/Yekaterinburg | Pakistan Asia/Karachi
India Asia/Kolkata | Sri Lanka Asia/Colombo | Nepal Asia/Kathmandu | Central Asia Asia/Bishkek | Bangladesh Asia/Dhaka
Omsk Asia/Omsk | Myanmar Asia/Yangon | SE Asia Asia/Bangkok | Altai Asia/Barnaul | W. Mongolia Asia/Hovd | North Asia Asia/Krasnoyarsk
N. Central Asia Asia/Novosibirsk | Tomsk Asia/Tomsk | China Asia/Shanghai | North Asia East Asia/Irkutsk | Singapore Asia/Singapore
W. Australia Australia/Perth | Taipei Asia/Taipei | Ulaanbaatar Asia/Ulaanbaatar | Aus Central W. Australia/Eucla
Transbaikal Asia/Chita | Tokyo Asia/Tokyo | North Korea Asia/Pyongyang | Korea Asia/Seoul | Yakutsk Asia/Yakutsk
Cen. Australia Australia/Adelaide | AUS Central Australia/Darwin | E. Australia Australia/Brisbane | AUS Eastern Australia/Sydney
West Pacific Pacific/Port_Moresby | Tasmania Australia/Hobart | Vladivostok Asia/Vladivostok | Lord Howe Australia/Lord_Howe
Bougainville Pacific/Bougainville | Russia Time Zone 10 Asia/Srednekolymsk | Magadan Asia/Magadan | Norfolk Pacific/Norfolk
Sakhalin Asia/Sakhalin | Central Pacific Pacific/Guadalcanal | Russia Time Zone 11 Asia/Kamchatka | New Zealand Pacific/Auckland
Fiji Pacific/Fiji | Kamchatka Asia/Kamchatka | Chatham Islands Pacific/Chatham | Tonga Pacific/Tongatapu | Samoa Pacific/Apia
Line Islands Pacific/Kiritimati`

/** Windows names with another ending. */
const others: Readonly<Record<string, string>> = {
  utc: 'UTC',
  'coordinated universal time': 'UTC',
  'utc-11': 'Etc/GMT+11',
  'utc-09': 'Etc/GMT+9',
  'utc-08': 'Etc/GMT+8',
  'utc-02': 'Etc/GMT+2',
  'utc+12': 'Etc/GMT-12',
  'utc+13': 'Etc/GMT-13',
  'pacific standard time (mexico)': 'America/Tijuana',
  'mountain standard time (mexico)': 'America/Mazatlan',
  'central standard time (mexico)': 'America/Mexico_City',
  'eastern standard time (mexico)': 'America/Cancun',
}

const zones = new Map(
  table
    .trim()
    .split(/\s*[|\n]\s*/)
    .map((row) => [`${row.slice(0, row.lastIndexOf(' '))} standard time`.toLowerCase(), row.slice(row.lastIndexOf(' ') + 1)]),
)

/** The IANA zone of a Windows zone name; undefined for any other name. */
const windowsZone = (name: string): string | undefined => zones.get(name.toLowerCase()) ?? others[name.toLowerCase()]
