import test from 'ava'
import { openingHours } from '#shared/features/calendar/booking/slots.ts'
import { at, makeCalendar } from '#test/features/calendar/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { world } from '#test/support/world.ts'

// A second, simple implementation of the pages' hours: the local time of every minute by Intl, without Temporal.

const minute = 60_000
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
interface Taken {
  readonly from: number
  readonly to: number
}
type Hours = Readonly<Record<string, readonly (readonly [string, string])[]>>

const formats = new Map<string, Intl.DateTimeFormat>()
/** How far a zone's clock is ahead of UTC. Clocks change at full quarters of an hour, so these are asked for once each. */
const offsets = new Map<string, number>()
function offsetOf(zone: string, ms: number): number {
  const quarter = Math.floor(ms / (15 * minute)) * 15 * minute
  const key = `${zone} ${quarter}`
  const known = offsets.get(key)
  if (known !== undefined) return known
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
      hourCycle: 'h23',
    } as Intl.DateTimeFormatOptions)
  formats.set(zone, format)
  const offset = Date.parse(`${format.format(quarter).replace(' ', 'T')}Z`) - quarter
  offsets.set(key, offset)
  return offset
}
const clockOf = (zone: string, ms: number): number => ms + offsetOf(zone, ms)

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/**
 * The spans of a page's hours: from the first minute at which the clock is within them on their day until after the last one. Ranges that
 * touch are one span. `neverCloses` gives each day a span of its own, whose starts end with the day.
 */
function spansOf(hours: Hours, zone: string, from: number, to: number, step = minute): (Taken & { startsBefore: number })[] {
  const spans = new Map<string, Taken>()
  for (let ms = from; ms < to; ms += step) {
    const clock = new Date(clockOf(zone, ms))
    const now = clock.getUTCHours() * 60 + clock.getUTCMinutes()
    const own = hours[weekdays[(clock.getUTCDay() + 6) % 7] ?? ''] ?? []
    for (const [index, [opens, closes]] of own.entries()) {
      if (now < minutesOf(opens) || now >= minutesOf(closes)) continue
      const key = `${clock.toISOString().slice(0, 10)} ${index}`
      spans.set(key, { from: spans.get(key)?.from ?? ms, to: ms + step })
    }
  }
  const neverCloses = JSON.stringify(hours) === JSON.stringify(everyDay(['00:00', '24:00']))
  const joined: { from: number; to: number; date: string }[] = []
  for (const [key, span] of [...spans].sort(([, a], [, b]) => a.from - b.from)) {
    const [date = '', index = ''] = key.split(' ')
    const before = joined.at(-1)
    const [opens] = hours[weekdays[(new Date(date).getUTCDay() + 6) % 7] ?? '']?.[Number(index)] ?? ['']
    const isNext = before?.date === date || opens === '00:00'
    if (before && before.to >= span.from && isNext && !neverCloses) Object.assign(before, { to: Math.max(before.to, span.to), date })
    else joined.push({ ...span, date })
  }
  return joined.map(({ from, to }) => ({ from, to: neverCloses ? to + 2 * day : to, startsBefore: to }))
}

const day = 86_400_000

/** Days of 2026 and 2027 on which the clock of a zone changes, as midnights in UTC; weeks that begin and end alike have none. */
function changesOf(zone: string): number[] {
  const found: number[] = []
  for (let week = Date.UTC(2026, 0, 1); week < Date.UTC(2028, 0, 1); week += 7 * day) {
    if (offsetOf(zone, week) === offsetOf(zone, week + 7 * day)) continue
    for (let at = week; at < week + 7 * day; at += day) if (offsetOf(zone, at) !== offsetOf(zone, at + day)) found.push(at)
  }
  return found
}

/** Zones whose clocks change, one of those that change alike. */
function changingZones(): (readonly [zone: string, changes: number[]])[] {
  const all = Intl.supportedValuesOf('timeZone').map((zone) => [zone, changesOf(zone)] as const)
  const alike = Map.groupBy(all, ([zone, changes]) => changes.map((at) => [at, offsetOf(zone, at), offsetOf(zone, at + day)]).join())
  return [...alike.values()].flatMap(([one]) => (one && one[1].length > 0 ? [one] : []))
}

const everyDay = (...spans: (readonly [string, string])[]): Hours => Object.fromEntries(weekdays.map((name) => [name, spans]))
const settings: readonly Hours[] = [
  everyDay(['00:00', '24:00']),
  everyDay(['09:00', '17:00']),
  everyDay(['00:30', '01:30'], ['01:30', '02:00'], ['02:00', '02:30'], ['02:30', '03:15'], ['23:00', '24:00']),
  everyDay(['01:15', '02:45'], ['02:45', '03:05']),
  everyDay(['00:00', '02:20'], ['22:00', '24:00']),
]

test('slots: across clock changes, the hours of a page are in local time', (t) => {
  let compared = 0
  for (const [zone, changes] of changingZones()) {
    for (const change of changes) {
      const [from, to] = [change - day / 2, change + 1.5 * day]
      const inside = (span: { from: number; startsBefore: number }) => span.from >= from && span.startsBefore <= to
      const edges = (span: { from: number; startsBefore: number }) => [span.from, span.startsBefore]
      for (const hours of settings) {
        const page = { hours } as Parameters<typeof openingHours>[0]
        const found = [...openingHours(page, zone, { from: from - day, to: to + day })].filter(inside).map(edges)
        // Hours and clock changes are all at full five minutes.
        const expected = spansOf(hours, zone, from - day, to + day, 5 * minute)
          .filter(inside)
          .map(edges)
        t.deepEqual(found, expected, `${zone} ${new Date(change).toISOString().slice(0, 10)}`)
        compared += expected.length
      }
    }
  }
  t.true(compared > 1_000)
})

/** Numbers that look like chance and are the same every time. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Kathmandu', 'Africa/Casablanca', 'UTC']

test('slots: slots match a search through every minute, over calendars, zones and clock changes', async (t) => {
  let now = new Date('2026-03-01T00:00:00Z')
  const w = await world({ TRUST_PROXY: '1' }, undefined, () => now)
  t.teardown(w.close)
  for (let round = 0; round < 28; round++) {
    const random = chance(round + 1)
    const zone = zones[round % zones.length] ?? 'UTC'
    const change = changesOf(zone)[round % 2] ?? Date.UTC(2026, 5, 10)
    // A time between two minutes, so that the limits of notice and horizon are tested.
    now = new Date(change - day + random(24 * 60) * minute + (round % 2) * 30_000)
    const page = {
      duration: [15, 30, 45, 60, 90][random(5)] ?? 30,
      slot_step: [5, 15, 20, 30, 60][random(5)] ?? 30,
      buffer: [0, 5, 15, 60][random(4)] ?? 0,
      min_notice: [0, 1, 60, 600][random(4)] ?? 0,
      horizon_days: 1 + random(3),
    }
    const { duration, ...booking } = page
    const hours = settings[random(settings.length)] as Hours
    const calendar = await makeCalendar(t, w, {
      timezone: zone,
      settings: { booking: { enabled: true, durations: [duration], hours, ...booking } },
    })
    const taken: Taken[] = []
    for (let number = 0; number < 5; number++) {
      const from = change + (random(4 * 24 * 60) - 24 * 60) * minute
      const to = from + random(240) * minute
      const isFree = number === 4
      const body = { title: 'E', calendar_id: calendar.id, start: new Date(from).toISOString(), end: new Date(to).toISOString() }
      t.is((await w.org.owner.post(at(w, '/events'), { ...body, ...(isFree ? { status: 'cancelled' } : {}) })).status, 201)
      if (!isFree && to > from) taken.push({ from, to })
    }
    // Daily at a local time; none on a day whose clock change skips it.
    const first = change - 2 * day
    const clock = clockOf(zone, first) % day
    const daily = {
      title: 'D',
      calendar_id: calendar.id,
      start: new Date(first).toISOString(),
      end: new Date(first + 20 * minute).toISOString(),
    }
    t.is((await w.org.owner.post(at(w, '/events'), { ...daily, timezone: zone, recurrence: 'FREQ=DAILY' })).status, 201)
    const seen = new Set<string>()
    for (let ms = first; ms < change + 6 * day; ms += minute) {
      const shows = clockOf(zone, ms)
      const date = new Date(shows).toISOString().slice(0, 10)
      if (shows % day !== clock || seen.has(date)) continue
      seen.add(date)
      taken.push({ from: ms, to: ms + 20 * minute })
    }
    const [from, to] = [change - day + random(600) * minute, change + 3 * day]
    const [earliest, latest] = [now.getTime() + page.min_notice * minute, now.getTime() + page.horizon_days * day]
    const expected: string[] = []
    for (const span of spansOf(hours, zone, from - 2 * day, to + 2 * day)) {
      for (let start = span.from; start < span.startsBefore && start + duration * minute <= span.to; start += page.slot_step * minute) {
        const clashes = taken.some((one) => one.from < start + (duration + page.buffer) * minute && one.to > start - page.buffer * minute)
        if (start >= from && start < to && start >= earliest && start <= latest && !clashes) expected.push(new Date(start).toISOString())
      }
    }
    const query = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`
    const { data } = await w.visitor.get(`/cal/${w.org.id}/book/${calendar.key}/slots?${query}`, fromAnywhere())
    const slots = data.slots.map((slot: string) => slot.replace('000Z', 'Z'))
    // Two hours that meet in the one that comes twice share its starts.
    t.deepEqual(slots, [...new Set(expected)].sort(), `round ${round}: ${zone} ${JSON.stringify(page)}`)
  }
})

/** Hours of a Monday and a Tuesday, the length of a booking and its step, and the slots of both days in UTC. */
const touching: readonly (readonly [hours: Hours, minutes: readonly [number, number], slots: readonly string[]])[] = [
  [
    {
      mon: [
        ['09:00', '10:00'],
        ['10:00', '11:00'],
      ],
    },
    [45, 45],
    ['05T09:00', '05T09:45'],
  ],
  [
    {
      mon: [
        ['10:00', '11:00'],
        ['09:00', '10:00'],
      ],
    },
    [120, 30],
    ['05T09:00'],
  ],
  [
    {
      mon: [
        ['09:00', '10:00'],
        ['10:01', '11:00'],
      ],
    },
    [90, 30],
    [],
  ],
  [{ mon: [['22:30', '24:00']], tue: [['00:00', '01:30']] }, [60, 45], ['05T22:30', '05T23:15', '06T00:00']],
  [{ mon: [['22:30', '24:00']], tue: [['00:30', '01:30']] }, [60, 45], ['05T22:30', '06T00:30']],
  [everyDay(['00:00', '12:00'], ['12:00', '24:00']), [1440, 720], ['05T00:00', '05T12:00', '06T00:00', '06T12:00']],
]
test('slots: ranges of hours that touch are one, also across midnight, and a booking may lie across their border', async (t) => {
  const w = await world({ TRUST_PROXY: '1' }, undefined, () => new Date('2026-10-01T00:00:00Z'))
  t.teardown(w.close)
  for (const [hours, [minutes, step], expected] of touching) {
    const booking = { enabled: true, durations: [minutes], slot_step: step, min_notice: 0, hours }
    const { id, key } = await makeCalendar(t, w, { timezone: 'UTC', settings: { booking } })
    const slotsOf = async (from: string, to: string): Promise<string[]> => {
      const { data } = await w.visitor.get(`/cal/${w.org.id}/book/${key}/slots?from=${from}&to=${to}`, fromAnywhere())
      return data.slots.map((slot: string) => slot.slice(8, 16))
    }
    t.deepEqual(await slotsOf('2026-10-05', '2026-10-06'), expected, JSON.stringify(hours))
    t.deepEqual(
      await slotsOf('2026-10-06', '2026-10-06'),
      expected.filter((slot) => slot.startsWith('06')),
      `${JSON.stringify(hours)}, from Tuesday`,
    )
    const last = expected.at(-1)
    if (last === undefined) continue
    const booked = await w.visitor.post(
      `/cal/${w.org.id}/book/${key}`,
      { start: `2026-10-${last}:00Z`, name: 'G', email: 'g@example.com' },
      fromAnywhere(),
    )
    t.is(booked.status, 201, booked.text)
    t.false((await slotsOf('2026-10-05', '2026-10-06')).includes(last), id)
  }
})
