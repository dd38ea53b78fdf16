import test from 'ava'
import ICAL from 'ical.js'
import rrule from 'rrule'
import { zoneText } from '#shared/features/calendar/ics/zone-text.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { times } from '#test/support/depth.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const hour = 3_600_000

/** Offsets by Intl, in seconds. */
function offsetsOf(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return (ms) => {
    const [, sign, hours = '0', minutes = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(format.format(ms)) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600 + Number(minutes) * 60)
  }
}

/** Reads a VTIMEZONE by rrule: the offset of the latest beginning, by instant. An implementation of its own, without ical.js. */
function readByRrule(text: string): (ms: number) => number {
  const seconds = (value: string) => (value.startsWith('-') ? -1 : 1) * (Number(value.slice(1, 3)) * 3_600 + Number(value.slice(3, 5)) * 60)
  const wallMs = (value: string) => Date.parse(value.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5:$6Z'))
  const starts = [...text.matchAll(/BEGIN:(STANDARD|DAYLIGHT)\r\n([\s\S]*?)END:\1/g)].flatMap(([, , body = '']) => {
    const value = (name: string) => new RegExp(`^${name}:(.*)\r$`, 'm').exec(body)?.[1]
    const [from, to, first] = [seconds(value('TZOFFSETFROM') ?? ''), seconds(value('TZOFFSETTO') ?? ''), wallMs(value('DTSTART') ?? '')]
    const rule = value('RRULE')
    const repeated = rule
      ? new rrule.RRule({ ...rrule.RRule.parseString(rule), dtstart: new Date(first) }).between(
          new Date(first),
          new Date('2101-01-01T00:00:00Z'),
          true,
        )
      : []
    const added = [...body.matchAll(/^RDATE:(.*)\r$/gm)].flatMap(([, values = '']) => values.split(',').map(wallMs))
    const walls = [first, ...added, ...repeated.map((date) => date.getTime())]
    return walls.map((wall) => ({ at: wall - from * 1_000, from, to }))
  })
  starts.sort((a, b) => a.at - b.at)
  return (ms) => starts.findLast((start) => start.at <= ms)?.to ?? starts[0]?.from ?? Number.NaN
}

/** Reads a VTIMEZONE by ical.js: the instant of a local time. */
function readByIcal(text: string): (wall: number) => number {
  const zone = new ICAL.Timezone(new ICAL.Component(ICAL.parse(text.trim()) as unknown as string))
  return (wall) => {
    const time = ICAL.Time.fromJSDate(new Date(wall), true)
    time.zone = zone
    return time.toUnixTime() * 1_000
  }
}

/** Whether a local time exists once: the hours that a clock change repeats mean two instants. */
const isUnique = (offsetAt: (ms: number) => number, ms: number): boolean =>
  [-6, 6].every((hours) => {
    const other = ms + (offsetAt(ms) - offsetAt(ms + hours * hour)) * 1_000
    return other === ms || other + offsetAt(other) * 1_000 !== ms + offsetAt(ms) * 1_000
  })

/** Instants at which a described zone is compared: the days of a year, and the hours around each change of the clock. */
function samplesOf(offsetAt: (ms: number) => number, from: number, to: number): number[] {
  const samples: number[] = []
  for (let ms = from; ms < to; ms += 10 * 24 * hour) {
    samples.push(ms)
    if (offsetAt(ms) === offsetAt(ms + 10 * 24 * hour)) continue
    let [low, high] = [ms, ms + 10 * 24 * hour]
    while (high - low > 60_000) {
      const middle = Math.floor((low + high) / 120_000) * 60_000
      if (offsetAt(middle) === offsetAt(ms)) low = middle
      else high = middle
    }
    samples.push(low - 1_000, high - 1_000, high, high + hour)
  }
  return samples
}

/** Zones whose rules changed, of the southern half, with half an hour, without a yearly rule, without changes, with a negative summer time. */
const named: readonly (readonly [zone: string, years: readonly number[]])[] = [
  ['Europe/Berlin', [1990, 1996, 2026, 2050]],
  ['America/New_York', [1990, 2006, 2007, 2008]],
  ['America/Sao_Paulo', [1990, 2018, 2026]],
  ['America/Santiago', [2015, 2026]],
  ['Australia/Lord_Howe', [1990, 2026]],
  ['Australia/Sydney', [2000, 2026]],
  ['Africa/Casablanca', [2010, 2026]],
  ['Africa/Cairo', [2010, 2014, 2023, 2026]],
  ['Asia/Gaza', [2026]],
  ['Asia/Kolkata', [1990, 2026]],
  ['Asia/Pyongyang', [2014, 2026]],
  ['Europe/Dublin', [1990, 2026]],
  ['Europe/Moscow', [1990, 2010, 2026]],
  ['Europe/Istanbul', [2015, 2026]],
  ['Pacific/Apia', [2011, 2026]],
  ['Pacific/Easter', [2026]],
  ['America/Nuuk', [2022, 2026]],
  ['Asia/Jerusalem', [2026]],
  ['Antarctica/Troll', [2026]],
]

test('written zones: ical.js and rrule read the offsets of each zone from the year on that it is written for, up to 2100', (t) => {
  const zones = Intl.supportedValuesOf('timeZone')
  const others = zones.filter((_, index) => times(index % 12 === 0 ? 1 : 0, 1) > 0).map((zone) => [zone, [1990, 2026]] as const)
  for (const [zone, years] of [...named, ...others])
    for (const year of years) {
      const text = zoneText(zone, Date.UTC(year, 6, 1))
      const offsetAt = offsetsOf(zone)
      const [byRrule, byIcal] = [readByRrule(text), readByIcal(text)]
      const until = Math.min(year + 40, 2100)
      const samples = [
        ...samplesOf(offsetAt, Date.UTC(year, 0, 1), Date.UTC(until, 0, 1)),
        ...samplesOf(offsetAt, Date.UTC(2098, 0, 1), Date.UTC(2100, 0, 1)),
      ]
      const wrong = samples.filter((ms) => byRrule(ms) !== offsetAt(ms))
      t.deepEqual(
        wrong.slice(0, 3).map((ms) => new Date(ms).toISOString()),
        [],
        `${zone} from ${year} by rrule\n${text}`,
      )
      const wrongByIcal = samples.filter((ms) => isUnique(offsetAt, ms) && byIcal(ms + offsetAt(ms) * 1_000) !== ms)
      t.deepEqual(
        wrongByIcal.slice(0, 3).map((ms) => new Date(ms).toISOString()),
        [],
        `${zone} from ${year} by ical.js\n${text}`,
      )
    }
})

/** Zones with a yearly rule, and the rules of their observances. */
const yearly: readonly (readonly [zone: string, daylight: string, standard: string])[] = [
  ['Europe/Berlin', 'BYMONTH=3;BYDAY=-1SU', 'BYMONTH=10;BYDAY=-1SU'],
  ['Europe/Dublin', 'BYMONTH=3;BYDAY=-1SU', 'BYMONTH=10;BYDAY=-1SU'],
  ['America/New_York', 'BYMONTH=3;BYDAY=2SU', 'BYMONTH=11;BYDAY=1SU'],
  ['Australia/Lord_Howe', 'BYMONTH=10;BYDAY=1SU', 'BYMONTH=4;BYDAY=1SU'],
  ['America/Santiago', 'BYMONTH=9;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=SU', 'BYMONTH=4;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=SU'],
]
test('written zones: an export describes a zone by one STANDARD and one DAYLIGHT with a rule where it has one', async (t) => {
  const w = await fresh()
  for (const [timezone, daylight, standard] of yearly) {
    const { id } = await makeCalendar(t, w, { timezone })
    await makeEvent(t, w, { calendar_id: id, timezone, start: '2026-12-01T09:00:00Z', recurrence: 'FREQ=WEEKLY' })
    const { text } = await w.org.owner.get(at(w, `/calendars/${id}/export`))
    const [zone = ''] = /BEGIN:VTIMEZONE[\s\S]*END:VTIMEZONE/.exec(text.replaceAll(/\r\n /g, '')) ?? []
    const rules = [...zone.matchAll(/BEGIN:(STANDARD|DAYLIGHT)\r\n[\s\S]*?RRULE:FREQ=YEARLY;(.*)\r\nEND/g)].map(
      ([, name, rule]) => `${name} ${rule}`,
    )
    t.deepEqual(rules.sort(), [`DAYLIGHT ${daylight}`, `STANDARD ${standard}`], timezone)
    t.is(zone.match(/^BEGIN:(?:STANDARD|DAYLIGHT)/gm)?.length, 2, zone)
    t.notRegex(zone, /RDATE/)
  }
  const { id } = await makeCalendar(t, w, { timezone: 'Asia/Kolkata' })
  await makeEvent(t, w, { calendar_id: id, timezone: 'Asia/Kolkata', start: '2026-12-01T09:00:00Z', recurrence: 'FREQ=WEEKLY' })
  const { text } = await w.org.owner.get(at(w, `/calendars/${id}/export`))
  t.regex(text, /BEGIN:STANDARD\r\nDTSTART:20250101T000000\r\nTZOFFSETFROM:\+0530\r\nTZOFFSETTO:\+0530\r\nEND:STANDARD\r\nEND:VTIMEZONE/)
})
