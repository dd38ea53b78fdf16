import { changesInYear, type ZoneChange } from '#shared/features/calendar/ics/zone-changes.ts'
import { toWallClock } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/**
 * The first year that is described: earlier offsets have seconds, which programs do not read. And the last one: where a zone has no yearly
 * rule, its changes are listed up to it.
 */
const [firstYear, lastYear] = [1900, 2100]
/** Years from which the yearly rule of a zone is read. The known changes of zones without a rule end in 2087. */
const ruleYears = { from: 2088, to: 2099 }
/** The years up to here are compared with the rule one by one, and of the later ones these: a rule has no exceptions there. */
const comparedUntil = 2037
const comparedYears = [2040, 2050, 2061, 2072, 2086]

const textCache = new Map<string, string>()

/**
 * The VTIMEZONE of a zone, which describes it from the year of an instant on. A zone with a yearly rule has one STANDARD and one DAYLIGHT with
 * an RRULE, since some programs read nothing else; changes before the rule began precede them. Other changes are listed up to the year 2100.
 */
export function zoneText(zone: string, from: number): string {
  const year = Math.min(lastYear, Math.max(firstYear, new Date(toWallClock(from, zone)).getUTCFullYear()))
  const key = `${zone} ${year}`
  const known = textCache.get(key)
  if (known) return known
  if (textCache.size > 500) textCache.clear()
  const lines = ['BEGIN:VTIMEZONE', `TZID:${zone}`, ...observanceLines(zone, year), 'END:VTIMEZONE']
  const text = lines.map((line) => `${line}\r\n`).join('')
  textCache.set(key, text)
  return text
}

interface Observance {
  readonly before: number
  readonly after: number
  /** Local times of the beginnings, by the offset before them. */
  readonly starts: readonly number[]
  readonly rule?: string
}

function observanceLines(zone: string, year: number): string[] {
  const rules = yearlyRules(zone)
  const started = rules.map((rule) => ({ rule, since: firstYearOf(rule, zone, year - 1) }))
  const until = started.length > 0 ? regularSince(rules, zone, year - 1) : lastYear
  const changes = Array.from({ length: until - year + 2 }, (_, index) => changesInYear(zone, year - 1 + index)).flat()
  // The last change before the year says what holds at its beginning.
  const yearStart = Date.UTC(year, 0, 1)
  const atStart = changes.findLastIndex(({ at, before }) => at + before < yearStart)
  const described = changes.slice(Math.max(0, atStart))
  const isOfRule = (change: ZoneChange) => started.some(({ rule, since }) => yearOf(change) >= since && rule.matches(change))
  const listed = described.filter((change) => !isOfRule(change))
  const observances: Observance[] = [
    ...(atStart < 0 ? [leadIn(zone, year, described[0])] : []),
    ...[...Map.groupBy(listed, ({ before, after }) => `${before} ${after}`).values()].map((ofKind) => ({
      before: ofKind[0]?.before ?? 0,
      after: ofKind[0]?.after ?? 0,
      starts: ofKind.map(({ at, before }) => at + before),
    })),
    ...started.map(({ rule, since }) => ({ ...rule, starts: [rule.startIn(since)], rule: rule.text })),
  ]
  return observances.flatMap(textOf)
}

/** What holds at the beginning of a year, where the year before has no change. */
function leadIn(zone: string, year: number, first: ZoneChange | undefined): Observance {
  const yearStart = Date.UTC(year, 0, 1)
  const offset = first?.before ?? toWallClock(yearStart, zone) - yearStart
  return { before: offset, after: offset, starts: [Date.UTC(year - 1, 0, 1)] }
}

const yearOf = ({ at, before }: ZoneChange): number => new Date(at + before).getUTCFullYear()

/** A change that a zone repeats every year. */
interface YearlyRule extends Pick<Observance, 'before' | 'after'> {
  readonly text: string
  readonly matches: (change: ZoneChange) => boolean
  /** The local time of the change in a year. */
  readonly startIn: (year: number) => number
}

const rulesByZone = new Map<string, readonly YearlyRule[]>()

/** The yearly changes of a zone, in order of the year; empty for a zone whose clock does not change, or not by a rule. */
function yearlyRules(zone: string): readonly YearlyRule[] {
  const known = rulesByZone.get(zone)
  if (known) return known
  const years = Array.from({ length: ruleYears.to - ruleYears.from + 1 }, (_, index) => changesInYear(zone, ruleYears.from + index))
  const isRegular = years.every((changes) => changes.length === 2)
  const rules = isRegular ? [0, 1].map((position) => ruleOf(years.flatMap((changes) => changes[position] ?? []))) : []
  const found = rules.every((rule) => rule !== undefined) ? (rules as YearlyRule[]) : []
  const holds = comparedYears.every((year) => isRegularYear(found, zone, year))
  rulesByZone.set(zone, holds ? found : [])
  return holds ? found : []
}

const hasChange = (rule: YearlyRule, zone: string, year: number): boolean => changesInYear(zone, year).some(rule.matches)

/** Whether a year has the changes of the rules and no other. */
const isRegularYear = (rules: readonly YearlyRule[], zone: string, year: number): boolean =>
  rules.every((rule) => hasChange(rule, zone, year)) && changesInYear(zone, year).length === rules.length

/** The year since which a zone has had no other changes than those of its rules, but not before `earliest`. */
function regularSince(rules: readonly YearlyRule[], zone: string, earliest: number): number {
  let year = Math.max(earliest, comparedUntil)
  while (year > earliest && isRegularYear(rules, zone, year - 1)) year -= 1
  return year
}

/** The year since which the zone has had the change of a rule without a break, but not before `earliest`. */
function firstYearOf(rule: YearlyRule, zone: string, earliest: number): number {
  let year = Math.max(earliest, comparedUntil)
  while (year > earliest && hasChange(rule, zone, year - 1)) year -= 1
  return year
}

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** The rule by which the changes of some years, one of each, are on one weekday of seven consecutive days of the year; undefined for none. */
function ruleOf(changes: readonly ZoneChange[]): YearlyRule | undefined {
  const [first] = changes
  if (!first) return undefined
  const { before, after } = first
  const walls = changes.map((change) => change.at + change.before)
  const clock = walls[0] === undefined ? 0 : walls[0] % dayMs
  const weekday = new Date(walls[0] ?? 0).getUTCDay()
  const isAlike = changes.every(
    (change, index) =>
      change.before === before &&
      change.after === after &&
      (walls[index] ?? 0) % dayMs === clock &&
      new Date(walls[index] ?? 0).getUTCDay() === weekday,
  )
  if (!isAlike) return undefined
  // Days before the end of the year: a leap day does not move them, as all changes are after February.
  const toEnd = walls.map((wall) => (Date.UTC(new Date(wall).getUTCFullYear() + 1, 0, 1) - (wall - clock)) / dayMs)
  const [nearest, farthest] = [Math.min(...toEnd), Math.max(...toEnd)]
  if (farthest - nearest !== 6) return undefined
  const startIn = (year: number): number => {
    const earliest = Date.UTC(year + 1, 0, 1) - farthest * dayMs
    return earliest + ((weekday - new Date(earliest).getUTCDay() + 7) % 7) * dayMs + clock
  }
  return {
    before,
    after,
    text: `FREQ=YEARLY;${dayParts(farthest, weekdays[weekday] ?? '')}`,
    startIn,
    matches: (change) => change.before === before && change.after === after && change.at + change.before === startIn(yearOf(change)),
  }
}

/** The parts of a rule for the weekday among the seven days that begin `farthest` days before the end of the year. */
function dayParts(farthest: number, weekday: string): string {
  const [from, to] = [Date.UTC(2027, 0, 1) - farthest * dayMs, Date.UTC(2027, 0, 1) - (farthest - 6) * dayMs].map((ms) => new Date(ms)) as [
    Date,
    Date,
  ]
  const month = from.getUTCMonth()
  if (month !== to.getUTCMonth()) {
    const days = Array.from({ length: 7 }, (_, index) => index - farthest)
    return `BYYEARDAY=${days.join()};BYDAY=${weekday}`
  }
  const day = from.getUTCDate()
  const daysInMonth = new Date(Date.UTC(2027, month + 1, 0)).getUTCDate()
  if (day + 6 === daysInMonth) return `BYMONTH=${month + 1};BYDAY=-1${weekday}`
  if (day % 7 === 1) return `BYMONTH=${month + 1};BYDAY=${(day + 6) / 7}${weekday}`
  return `BYMONTH=${month + 1};BYMONTHDAY=${Array.from({ length: 7 }, (_, index) => day + index).join()};BYDAY=${weekday}`
}

function textOf({ before, after, starts, rule }: Observance): string[] {
  const [start = 0, ...later] = starts
  const name = after > before ? 'DAYLIGHT' : 'STANDARD'
  return [
    `BEGIN:${name}`,
    `DTSTART:${basicText(start)}`,
    `TZOFFSETFROM:${offsetText(before)}`,
    `TZOFFSETTO:${offsetText(after)}`,
    ...(rule === undefined ? [] : [`RRULE:${rule}`]),
    // ical.js, which Thunderbird uses, leaves out DTSTART where there are RDATEs, and reads one value of each.
    ...(later.length > 0 ? starts.map((wall) => `RDATE:${basicText(wall)}`) : []),
    `END:${name}`,
  ]
}

const basicText = (wall: number): string => new Date(wall).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')

function offsetText(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const rest = seconds % 60 === 0 ? '' : two(seconds % 60)
  return `${offsetMs < 0 ? '-' : '+'}${two(seconds / 3600)}${two((seconds % 3600) / 60)}${rest}`
}
