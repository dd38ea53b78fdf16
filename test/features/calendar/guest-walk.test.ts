import test, { type ExecutionContext } from 'ava'
import { dayMs, hourMs } from '#shared/platform/kernel/time/units.ts'
import { type GuestPrograms, startGuestPrograms } from '#test/features/calendar/guest-program.ts'
import { deleteMailCounts } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { times } from '#test/support/depth.ts'
import type { Answer } from '#test/support/send-request.ts'
import { type World, world } from '#test/support/world.ts'

const guests = ['ada@example.com', 'bob@example.com', 'eve@example.com'] as const
const [from, to] = ['2027-01-01', '2027-12-31'] as const
const zones = ['Europe/Berlin', 'America/New_York', 'UTC', 'Asia/Kathmandu'] as const
const rules = [
  'FREQ=DAILY;INTERVAL=3;COUNT=14',
  'FREQ=WEEKLY;COUNT=12',
  'FREQ=MONTHLY;COUNT=6',
  'FREQ=WEEKLY;INTERVAL=2;UNTIL=20270930T235959Z',
] as const
const shifts = [hourMs, -2 * hourMs, dayMs, -dayMs, 7 * dayMs, -7 * dayMs, 21 * dayMs] as const

type Chance = (below: number) => number
/** Numbers that look like chance and are the same every time. */
function chance(seed: number): Chance {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Occurrence {
  readonly event_id: string
  readonly series_id: string | null
  readonly start: string
  readonly all_day: boolean
}

interface Walk {
  readonly w: World
  readonly random: Chance
  readonly calendars: readonly string[]
  readonly said: string[]
}

const pick = <T>(random: Chance, all: readonly T[]): T => all[random(all.length)] as T
const some = (random: Chance): object => ({ attendees: guests.filter(() => random(2) === 0).map((email) => ({ email })) })
const moved = (random: Chance, { start, all_day }: Occurrence): object => {
  const ms = Date.parse(start) + pick(random, all_day ? shifts.slice(2) : shifts)
  return { start: all_day ? new Date(ms).toISOString().slice(0, 10) : new Date(ms).toISOString() }
}

/** A change of an occurrence, of the later part of a series, or of all of it. */
function changeOf({ random, calendars }: Walk, one: Occurrence, scope: string, startOfAll: string): object {
  const it = scope === 'all' ? { ...one, start: startOfAll } : one
  const kinds: readonly (() => object)[] = [
    () => ({ title: `T${random(1_000)}` }),
    () => moved(random, it),
    () => moved(random, it),
    () => some(random),
    () => ({ status: pick(random, ['cancelled', 'confirmed', 'tentative']) }),
    () => (one.all_day ? { start: `${it.start.slice(0, 10)}T14:00:00Z`, all_day: false } : { start: it.start.slice(0, 10), all_day: true }),
    () => ({ timezone: pick(random, zones) }),
    () => (scope === 'this' ? { location: `L${random(9)}` } : { recurrence: pick(random, rules) }),
    () => (scope === 'this' ? some(random) : { calendar_id: pick(random, calendars) }),
  ]
  return pick(random, kinds)()
}

/** A series of a file, with starts beside its rule and without it, to which guests are invited afterwards. */
async function bring(t: ExecutionContext, { w, random, calendars, said }: Walk, start: string): Promise<Answer> {
  const { owner } = w.org
  const isDate = random(3) === 0
  const zone = isDate ? ';VALUE=DATE' : `;TZID=${pick(random, zones)}`
  const clock = (days: number, hour: string) => {
    const day = new Date(Date.parse(start) + days * dayMs).toISOString().slice(0, 10).replaceAll('-', '')
    return isDate ? day : `${day}T${hour}0000`
  }
  const rule = pick(random, [
    'RRULE:FREQ=WEEKLY;COUNT=10',
    'RRULE:FREQ=WEEKLY;INTERVAL=2',
    'RRULE:FREQ=DAILY;INTERVAL=7;COUNT=12',
    'X-NO-RULE:1',
  ])
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'BEGIN:VEVENT', `UID:brought-${said.length}`, `SUMMARY:B${random(1_000)}`],
    ...[`DTSTART${zone}:${clock(0, '09')}`, `DTEND${zone}:${isDate ? clock(1, '') : clock(0, '10')}`, rule],
    ...[`RDATE${zone}:${[3, 18, 33].map((days) => clock(days, '13')).join()}`, `EXDATE${zone}:${clock(14, '09')},${clock(33, '13')}`],
    ...['END:VEVENT', 'END:VCALENDAR', ''],
  ]
  said.push(`import ${lines.join(' ')}`)
  const calendar = pick(random, calendars)
  const imported = await owner.send('POST', at(w, `/calendars/${calendar}/import`), lines.join('\r\n'), { 'content-type': 'text/calendar' })
  t.is(imported.data?.created, 1, imported.text)
  const day = new Date(Date.parse(start) - dayMs).toISOString().slice(0, 10)
  const { data } = await owner.get(at(w, `/events?from=${day}&to=2028-01-31&calendars=${calendar}`))
  const title = lines[4]?.slice('SUMMARY:'.length)
  const { series_id } = data.events.find((one: { title: string }) => one.title === title)
  return owner.patch(at(w, `/events/${series_id}`), some(random))
}

async function takeStep(t: ExecutionContext, walk: Walk): Promise<Answer | undefined> {
  const { w, random, calendars, said } = walk
  const { owner } = w.org
  const { data } = await owner.get(at(w, `/events?from=${from}&to=${to}`))
  const listed = data.events as Occurrence[]
  if (listed.length < 5 || random(8) === 0) {
    const start = new Date(Date.UTC(2027, 2 + random(3), 1 + random(27), 14)).toISOString()
    const repeats = random(4) === 0 ? {} : { recurrence: pick(random, rules) }
    const body = {
      calendar_id: pick(random, calendars),
      title: `N${random(1_000)}`,
      start,
      timezone: pick(random, zones),
      ...repeats,
      ...some(random),
    }
    if (random(3) === 0) return bring(t, walk, start)
    said.push(`create ${JSON.stringify(body)}`)
    await makeEvent(t, w, body)
    return undefined
  }
  const one = pick(random, listed)
  const id = one.series_id ?? one.event_id
  const scope = one.series_id === null ? 'all' : pick(random, ['this', 'this', 'following', 'all'])
  const original = (await owner.get(at(w, `/events/${one.event_id}`))).data.original_start ?? one.start
  const query = scope === 'all' ? '' : `?scope=${scope}&occurrence=${encodeURIComponent(original)}`
  const path = at(w, `/events/${id}${query}`)
  if (random(6) === 0) {
    said.push(`delete ${scope} ${original}`)
    return owner.delete(path)
  }
  const body = changeOf(walk, one, scope, (await owner.get(at(w, `/events/${id}`))).data.start)
  said.push(`${scope} ${original} ${JSON.stringify(body)}`)
  return owner.patch(path, body)
}

const seeds = [8, 11, 12, 1, 2, 3, 4, 5, 6, 7, 9, 10].slice(0, times(1, 12))
const steps = times(40, 80)

for (const seed of seeds)
  test(`guest walk: after any ${steps} changes, mails alone give guests the organizer’s view (${seed})`, async (t) => {
    let ms = Date.parse('2026-11-25T08:00:00Z')
    const w = await world({}, undefined, () => new Date(ms))
    t.teardown(w.close)
    const programs: GuestPrograms = startGuestPrograms(w, guests)
    const random = chance(seed * 7_919)
    const calendars = [(await makeCalendar(t, w, { timezone: 'UTC' })).id, (await makeCalendar(t, w, { timezone: 'Europe/Berlin' })).id]
    const walk: Walk = { w, random, calendars, said: [] }
    for (let step = 0; step < steps; step++) {
      ms += 60_000
      const answer = await takeStep(t, walk)
      // A rule that does not match its start is refused, and no mail is sent.
      if (answer && ![200, 400].includes(answer.status)) t.fail(`${answer.status} ${answer.text}\n${walk.said.join('\n')}`)
      await deleteMailCounts(w.db)
      const { problems } = await programs.deliver()
      const differences = await programs.differences(from, to)
      if (problems.length + differences.length > 0) {
        t.fail(`${[...problems, ...differences.slice(0, 8)].join('\n')}\nafter\n${walk.said.slice(-12).join('\n')}`)
        return
      }
    }
    t.pass()
  })
