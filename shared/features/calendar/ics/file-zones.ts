import { parseComponent, propertiesOf, type RawComponent, rawValue, textOf } from '#shared/features/calendar/ics/components.ts'
import type { Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { lastInstantOf, listStarts, type Series, utcBasicText } from '#shared/features/calendar/series/expand.ts'
import { readRule, rulePartsOf, ruleText } from '#shared/features/calendar/series/rule.ts'
import type { TakeSteps } from '#shared/features/calendar/series/rule-days.ts'
import { fromWallClock } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
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
  /** Computes the changes of the decade of a local time, with pauses, so that the other functions find them. */
  readonly prepare: (wall: number, budget: ComputeBudget) => Promise<void>
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
export async function readFileZones(components: readonly RawComponent[], budget: ComputeBudget): Promise<Map<string, FileZone>> {
  const take = (steps: number) => budget.takeSteps(steps)
  const zones = new Map<string, FileZone>()
  for (const raw of components.filter(({ name }) => name === 'VTIMEZONE').slice(0, maxZones)) {
    try {
      const component = await parseComponent(raw, budget)
      zones.set(textOf(component, 'tzid'), readZone(component, raw, take))
    } catch {
      // Events that name this zone are read as if the file did not describe it.
    }
  }
  return zones
}

/**
 * Computes what reading a component asks of the zones that it names, with pauses: the decades of its times, and of the two years after
 * them, by which zones are compared.
 */
export async function prepareZones({ lines }: RawComponent, zones: ReadonlyMap<string, FileZone>, budget: ComputeBudget): Promise<void> {
  if (zones.size === 0) return
  const years = new Set<number>()
  for (const line of lines) {
    const [, year] = /^[A-Z-]+;.*TZID=.*:(\d{4})\d{4}T/i.exec(line.slice(0, 500)) ?? []
    if (year !== undefined) years.add(Number(year)).add(Number(year) + 2)
  }
  for (const [tzid, zone] of zones) {
    if (!lines.some((line) => line.includes(tzid))) continue
    for (const year of years) await zone.prepare(yearStart(year), budget)
  }
}

/** Zones of a calendar, observances of a zone, and those with a rule that are read. */
const [maxZones, maxObservances, maxRules] = [200, 500, 50]

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
  if (known.filter(({ series }) => series).length > maxRules) throw new Error('has too many rules')
  for (const { series } of known) if (series) requireFewOnsets(series, take)
  const byDecade = new Map<number, readonly Onset[]>()
  const decadeOf = (wall: number) => Math.floor(new Date(wall).getUTCFullYear() / 10)
  const onsetsOf = (one: Observance, decade: number) => onsetsIn(one, yearStart(decade * 10), yearStart(decade * 10 + 10), take)
  const keep = (decade: number, onsets: Onset[]) => {
    onsets.sort((a, b) => a.at - b.at)
    byDecade.set(decade, onsets)
    return onsets
  }
  const onsetsNear = (wall: number): readonly Onset[] => {
    const decade = decadeOf(wall)
    return (
      byDecade.get(decade) ??
      keep(
        decade,
        known.flatMap((one) => onsetsOf(one, decade)),
      )
    )
  }
  return {
    matches: new Map(),
    prepare: async (wall, budget) => {
      const decade = decadeOf(wall)
      if (byDecade.has(decade)) return
      const onsets: Onset[] = []
      for (const one of known) {
        onsets.push(...onsetsOf(one, decade))
        await budget.pause()
      }
      keep(decade, onsets)
    },
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

/** The onsets of an observance in a span, and its last one before. */
function onsetsIn({ before, after, starts, series }: Observance, from: number, to: number, take: TakeSteps): Onset[] {
  take(1 + starts.length / 10)
  const fixed = starts.filter((at) => at < to)
  const repeated = series ? [...lastStartBefore(series, from, take), ...listStarts(series, from, to, maxOnsets, take)] : []
  return [...fixed, ...repeated].map((at) => ({ at, before, after }))
}

/** Onsets of an observance in ten years: clocks change a few times a year. */
const maxOnsets = 100

/** Throws an Error for a rule by which the clock would change more often than `maxOnsets` within two years. */
function requireFewOnsets(series: Series, take: TakeSteps): void {
  const starts = listStarts(series, series.start, series.start + 730 * dayMs, maxOnsets + 1, take)
  if (starts.length > maxOnsets) throw new Error('changes too often')
}

/** The last start of a rule before a time, as a list; of a rule that ended, before its end. Starts of 40 years before are found. */
function lastStartBefore(series: Series, wall: number, take: TakeSteps): number[] {
  const until = lastInstantOf(rulePartsOf(series.rule).get('UNTIL'), series) ?? Number.POSITIVE_INFINITY
  const end = Math.min(wall, until + 1)
  for (const reach of [400 * dayMs, 14_610 * dayMs]) {
    const starts = listStarts(series, Math.max(series.start, end - reach), end, 10_000, take)
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
