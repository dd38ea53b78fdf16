import { parseComponent, propertiesOf, type RawComponent, rawValue, textOf } from '#shared/features/calendar/ics/components.ts'
import type { Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { listStarts } from '#shared/features/calendar/series/expand.ts'
import { readRule } from '#shared/features/calendar/series/rule.ts'
import { toWallClock } from '#shared/features/calendar/time.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

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
