import test, { type ExecutionContext } from 'ava'
import { readEmail, readSequences } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { createMember } from '#test/support/factories.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)
const type = { 'content-type': 'text/calendar' }

const file = (...lines: readonly string[]): string => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')
const event = (...lines: readonly string[]): string => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n')

async function bring(t: ExecutionContext, w: World, text: string, more: object = {}) {
  const { id } = await makeCalendar(t, w, { timezone: 'Europe/Berlin', ...more })
  const { status, data, body } = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), text, type)
  return { id, status, data, message: body?.error?.message as string | undefined }
}
const seen = (w: World, id: string) => occurrences(w, '2026-01-01', '2026-12-31', w.org.owner, `&calendars=${id}`)

test('import: a file is imported from a form or a body, and the answer shows the result', async (t) => {
  const w = await fresh()
  const { id } = await makeCalendar(t, w)
  const text = file(event('UID:a', 'DTSTART:20260301T090000Z', 'DTEND:20260301T100000Z', 'SUMMARY:One'))
  const form = new FormData()
  form.append('file', new Blob([text], { type: 'text/calendar' }), 'a.ics')
  const { data } = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), form)
  t.deepEqual(data, { created: 1, updated: 0, skipped: 0, warnings: [] })
  t.deepEqual(await seen(w, id), ['One 2026-03-01T09:00Z'])
  const later = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), text, { ...type, prefer: 'respond-async' })
  t.is(later.status, 202)
})

test('import: unreadable events are reported and skipped, and the others are imported', async (t) => {
  const w = await fresh()
  const { id, data } = await bring(
    t,
    w,
    file(
      event('UID:bad', 'DTSTART:20261301T090000Z', 'SUMMARY:Bad'),
      event('UID:fine', 'RRULE:FREQ=SECONDLY', 'DTSTART:20260301T090000Z', 'SUMMARY:Too often'),
      'BEGIN:VTODO',
      'UID:todo',
      'END:VTODO',
      event('UID:good', 'DTSTART:20260301T090000Z', 'DURATION:PT30M', 'SUMMARY:Good'),
      event('DTSTART;VALUE=DATE:20260302', 'SUMMARY:Day'),
    ),
  )
  t.like(data, { created: 2, updated: 0, skipped: 2 })
  t.deepEqual(
    data.warnings.map(({ line, uid }: { line: number; uid: string }) => [line, uid]),
    [
      [0, ''],
      [3, 'bad'],
      [8, 'fine'],
    ],
  )
  t.deepEqual(await seen(w, id), ['Good 2026-03-01T09:00Z', 'Day 2026-03-02'])
})

test('import: a file without a calendar, an incomplete one and one of too many events import nothing', async (t) => {
  const w = await fresh()
  const one = event('UID:a', 'DTSTART:20260301T090000Z', 'SUMMARY:One')
  for (const text of [one, file(one).replace('END:VCALENDAR', ''), '', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT']) {
    const { status, message, id } = await bring(t, w, text)
    t.is(status, 400)
    t.regex(message ?? '', /VCALENDAR/)
    t.deepEqual(await seen(w, id), [])
  }
  const many = (count: number) =>
    file(...Array.from({ length: count }, (_, n) => event(`UID:u${n}`, 'DTSTART:20260301T090000Z', 'DURATION:PT1H', `SUMMARY:${n}`)))
  t.regex((await bring(t, w, many(2_001))).message ?? '', /at most 2000 events/)
  t.like((await bring(t, w, many(2_000))).data, { created: 2_000 })
})

test('import: an event with a known UID is replaced completely, and its SEQUENCE never falls', async (t) => {
  const w = await fresh()
  const old = event('UID:a', 'SEQUENCE:7', 'DTSTART:20260301T090000Z', 'RRULE:FREQ=DAILY;COUNT=3', 'SUMMARY:Old')
  const { id } = await bring(t, w, file(old, event('UID:a', 'RECURRENCE-ID:20260302T090000Z', 'DTSTART:20260302T120000Z', 'SUMMARY:Moved')))
  t.deepEqual(await seen(w, id), ['Old 2026-03-01T09:00Z', 'Moved 2026-03-02T12:00Z', 'Old 2026-03-03T09:00Z'])
  const fresher = file(event('UID:a', 'SEQUENCE:1', 'DTSTART:20260401T090000Z', 'SUMMARY:New'))
  const { data } = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), fresher, type)
  t.like(data, { created: 0, updated: 1, skipped: 0 })
  t.deepEqual(await seen(w, id), ['New 2026-04-01T09:00Z'])
  t.deepEqual(await readSequences(w.db, id), [7])
  const twice = file(
    event('UID:b', 'SEQUENCE:2', 'DTSTART:20260501T090000Z', 'SUMMARY:Two'),
    event('UID:b', 'SEQUENCE:1', 'DTSTART:20260501T090000Z', 'SUMMARY:First'),
  )
  await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), twice, type)
  t.deepEqual((await seen(w, id)).at(-1), 'Two 2026-05-01T09:00Z')
})

const zones: readonly (readonly [string, string])[] = [
  ['DTSTART;TZID=America/New_York:20260701T090000', '2026-07-01T13:00Z'],
  ['DTSTART;TZID=/mozilla.org/20070129_1/Europe/Berlin:20260701T090000', '2026-07-01T07:00Z'],
  ['DTSTART;TZID=W. Europe Standard Time:20260701T090000', '2026-07-01T07:00Z'],
  ['DTSTART;TZID="Pacific Standard Time":20260701T090000', '2026-07-01T16:00Z'],
  ['DTSTART:20260701T090000', '2026-07-01T07:00Z'],
  ['DTSTART;TZID=Own:20260701T090000', '2026-07-01T06:30Z'],
]
test('import: times are in the zone of their name or offsets; floating ones in the calendar’s zone', async (t) => {
  const w = await fresh()
  const own = ['BEGIN:VTIMEZONE', 'TZID:Own', 'BEGIN:STANDARD', 'DTSTART:19700101T000000', 'TZOFFSETFROM:+0230', 'TZOFFSETTO:+0230']
  const text = file(...own, 'END:STANDARD', 'END:VTIMEZONE', ...zones.map(([start], n) => event(`UID:z${n}`, start, `SUMMARY:Z${n}`)))
  const { id, data } = await bring(t, w, text)
  t.is(data.created, zones.length)
  t.is(data.warnings.length, 1, 'the instant is kept of a zone that is nowhere')
  t.deepEqual(
    (await seen(w, id)).sort(),
    zones.map(([, instant], n) => `Z${n} ${instant}`),
  )
  const series = file(...own, 'END:STANDARD', 'END:VTIMEZONE', event('UID:s', 'DTSTART;TZID=Own:20260701T090000', 'RRULE:FREQ=DAILY'))
  t.like((await bring(t, w, series)).data, { created: 0, skipped: 1 })
})

test('import: instants and transparent events take no time; a calendar without overlaps skips clashing events', async (t) => {
  const w = await fresh()
  const at9 = ['DTSTART:20260301T090000Z', 'DTEND:20260301T100000Z']
  const text = file(
    event('UID:a', ...at9, 'SUMMARY:A'),
    event('UID:b', ...at9, 'TRANSP:TRANSPARENT', 'SUMMARY:Free'),
    event('UID:c', 'DTSTART:20260301T093000Z', 'SUMMARY:Point'),
    event('UID:d', ...at9, 'SUMMARY:Clash'),
  )
  const { id, data } = await bring(t, w, text, { settings: { no_overlap: true } })
  t.like(data, { created: 3, skipped: 1 })
  t.regex(data.warnings[0].message, /^SLOT_TAKEN/)
  t.deepEqual((await seen(w, id)).sort(), ['A 2026-03-01T09:00Z', 'Free 2026-03-01T09:00Z', 'Point 2026-03-01T09:30Z'])
  const busy = (await w.org.owner.get(at(w, `/freebusy?from=2026-03-01&to=2026-03-01&calendars=${id}`))).data.calendars[0].busy
  t.deepEqual(busy, [{ start: '2026-03-01T09:00:00.000000Z', end: '2026-03-01T10:00:00.000000Z' }])
})

test('import: guests of a file are kept with their answers, and get no mail', async (t) => {
  const w = await fresh()
  const guest = 'ATTENDEE;CN="G ^\'the^\' Guest";PARTSTAT=TENTATIVE:MAILTO:Guest@example.com'
  const { id } = await bring(t, w, file(event('UID:a', 'DTSTART:20300301T090000Z', 'ORGANIZER:mailto:boss@example.com', guest)))
  const { data } = await w.org.owner.get(at(w, `/events?calendars=${id}&from=2030-03-01&to=2030-03-01`))
  const path = at(w, `/events/${data.events[0].event_id}`)
  t.like((await w.org.owner.get(path)).data.attendees[0], {
    email: 'Guest@example.com',
    name: 'G "the" Guest',
    status: 'tentative',
    mailed: false,
  })
  await w.org.owner.patch(path, { start: '2030-03-02T09:00:00Z' })
  await w.org.owner.delete(path)
  await w.drain()
  t.is(await countRows(w.db, 'outbox_mails', w.org.id), 0)
})

test('import: hostile files get an answer', async (t) => {
  const w = await fresh()
  const start = 'DTSTART:20260301T090000Z'
  const exdates = Array.from({ length: 10_000 }, (_, n) => `EXDATE:2026${String(1 + (n % 12)).padStart(2, '0')}01T0${n % 10}0000Z`)
  t.like((await bring(t, w, file(event('UID:a', start, 'RRULE:FREQ=DAILY', ...exdates)))).data, { created: 1 })
  t.like((await bring(t, w, file(event('UID:a', start, `DESCRIPTION:${'x'.repeat(5_000_000)}`)))).data, { created: 1 })
  t.like((await bring(t, w, file(event('UID:a', start, 'RRULE:FREQ=DAILY;UNTIL=20200101T000000Z')))).data, { created: 1 })
  t.like((await bring(t, w, file(event('UID:a', 'DTSTART:99990101T000000Z', 'RRULE:FREQ=DAILY')))).data, { created: 1 })
  t.like((await bring(t, w, file(event('UID:a', 'DTSTART:00010101T000000Z')))).data, { skipped: 1 })
  const same = Array.from({ length: 2_000 }, (_, n) => event('UID:same', `SEQUENCE:${n}`, start, `SUMMARY:${n}`))
  const { id, data } = await bring(t, w, file(...same))
  t.like(data, { created: 1, skipped: 0 })
  t.deepEqual(await seen(w, id), ['1999 2026-03-01T09:00Z'])
})

const cutHead = ['DTSTART:20260302T090000Z', 'DTEND:20260302T100000Z', 'SUMMARY:S']
/** Series with starts beside their rules, and one of these starts. */
const cuts: readonly (readonly [rule: string, rdates: string, at: string])[] = [
  ['RRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=20260420T090000Z', 'RDATE:20260325T110000Z,20260406T110000Z', '2026-03-25T11:00:00Z'],
  ['RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4', 'RDATE:20260325T110000Z,20260420T110000Z', '2026-03-25T11:00:00Z'],
  ['RRULE:FREQ=WEEKLY;COUNT=3', 'RDATE:20260325T110000Z,20260420T110000Z', '2026-03-25T11:00:00Z'],
  ['RRULE:FREQ=WEEKLY;COUNT=3', 'RDATE:20260220T110000Z,20260225T110000Z', '2026-02-25T11:00:00Z'],
  ['RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', 'RDATE:20260325T110000Z,20260420T110000Z', '2026-03-25T11:00:00Z'],
  ['RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'RDATE:20260325T110000Z,20260420T110000Z', '2026-03-25T11:00:00Z'],
  ['X-NO-RULE:1', 'RDATE:20260325T110000Z,20260420T110000Z', '2026-03-25T11:00:00Z'],
]

test('import: a series that is split at a start outside its rule keeps every occurrence', async (t) => {
  const w = await fresh()
  for (const [rule, rdates, cut] of cuts) {
    const { id } = await bring(t, w, file(event('UID:cut', ...cutHead, rule, rdates)))
    const before = await seen(w, id)
    const { data } = await w.org.owner.get(at(w, `/events?from=2026-01-01&to=2026-12-31&calendars=${id}`))
    const path = at(w, `/events/${data.events[0].series_id}?scope=following&occurrence=${cut}`)
    const titled = await w.org.owner.patch(path, { title: 'L' })
    t.is(titled.status, 200, titled.text)
    const isLater = (line: string) => Date.parse(line.slice(2)) >= Date.parse(cut)
    const later = before.map((line) => (isLater(line) ? line.replace('S', 'L') : line))
    t.deepEqual(await seen(w, id), later, rule)
    // Its later part moves by as much as the occurrence that was named.
    const start = new Date(Date.parse(cut) + 3_600_000).toISOString()
    const moved = await w.org.owner.patch(at(w, `/events/${titled.data.id}?scope=following&occurrence=${cut}`), { start })
    t.is(moved.status, 200, moved.text)
    const hourLater = (line: string) => `L ${new Date(Date.parse(line.slice(2)) + 3_600_000).toISOString().replace(':00.000Z', 'Z')}`
    t.deepEqual(
      await seen(w, id),
      later.map((line) => (isLater(line) ? hourLater(line) : line)),
      rule,
    )
  }
})

test('import: a series that is split at a start outside its rule does not move if its time is sent back unchanged', async (t) => {
  const w = await fresh()
  for (const [rule, rdates, cut] of cuts) {
    const { id } = await bring(t, w, file(event('UID:cut', ...cutHead, rule, rdates)))
    const before = await seen(w, id)
    const { data } = await w.org.owner.get(at(w, `/events?from=2026-01-01&to=2026-12-31&calendars=${id}`))
    const { series_id, end, all_day } = data.events.find(({ start }: { start: string }) => Date.parse(start) === Date.parse(cut))
    const { data: known } = await w.org.owner.get(at(w, `/events/${series_id}`))
    const path = at(w, `/events/${series_id}?scope=following&occurrence=${cut}`)
    const titled = await w.org.owner.patch(path, { title: 'L', start: cut, end, all_day, timezone: known.timezone })
    t.is(titled.status, 200, titled.text)
    const isLater = (line: string) => Date.parse(line.slice(2)) >= Date.parse(cut)
    t.deepEqual(
      await seen(w, id),
      before.map((line) => (isLater(line) ? line.replace('S', 'L') : line)),
      rule,
    )
  }
})

test('import: a calendar without overlaps checks starts outside the rule, also before its first', async (t) => {
  const w = await fresh()
  const taken = event('UID:taken', 'DTSTART:20260220T110000Z', 'DTEND:20260220T120000Z')
  const repeats = ['DTSTART:20260302T090000Z', 'DTEND:20260302T100000Z', 'RRULE:FREQ=WEEKLY;COUNT=3', 'RDATE:20260220T113000Z']
  const { data } = await bring(t, w, file(taken, event('UID:repeats', ...repeats)), { settings: { no_overlap: true } })
  t.like(data, { created: 1, skipped: 1 })
  t.regex(data.warnings[0].message, /^SLOT_TAKEN/)
})

test('import: a text with emoji is cut between characters, and every event of the file is imported', async (t) => {
  const w = await fresh()
  const over = (most: number) => `${'a'.repeat(most - 1)}😀b`
  const time = ['DTSTART:20260301T090000Z', 'DTEND:20260301T100000Z']
  const { id, data } = await bring(
    t,
    w,
    file(
      event(`UID:${over(1_000)}`, ...time, `SUMMARY:${over(300)}`, `DESCRIPTION:${over(20_000)}`, `LOCATION:${over(500)}`),
      event('UID:guests', ...time, `ORGANIZER;CN=${over(200)}:mailto:a@example.com`, `ATTENDEE;CN=${over(200)}:mailto:b@example.com`),
      event('UID:half', `DTSTART:${over(60)}`),
      event('UID:length', 'DTSTART:20260301T090000Z', `DURATION:${over(60)}`),
      event('UID:rule', ...time, `RRULE:FREQ=DAILY;COUNT=1;X-${over(58)}=1`),
      event(
        `UID:${Array.from({ length: 1_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000))).join('')}`,
        ...time,
      ),
      event('UID:good', ...time, 'SUMMARY:Good'),
    ),
  )
  t.like(data, { created: 4, skipped: 3 })
  t.true(data.warnings.every(({ uid, message }: { uid: string; message: string }) => `${uid}${message}`.isWellFormed()))
  const { data: listed } = await w.org.owner.get(at(w, `/events?from=2026-03-01&to=2026-03-01&calendars=${id}`))
  const cut = listed.events.find(({ title }: { title: string }) => title.startsWith('aaa'))
  t.is(cut.title, `${'a'.repeat(299)}😀`)
  t.like((await w.org.owner.get(at(w, `/events/${cut.event_id}`))).data, {
    description: `${'a'.repeat(19_999)}😀`,
    location: `${'a'.repeat(499)}😀`,
  })
})

test('import: a calendar’s own export keeps its organizer and its mails, whoever imports it', async (t) => {
  const w = await fresh()
  const editor = await createMember(w, w.org, [{ effect: 'allow', actions: ['calendar:read', 'calendar:write'] }])
  const email = await readEmail(w.db, editor.id)
  for (const kind of ['personal', 'org']) {
    const { id } = await makeCalendar(t, w, { kind })
    t.is((await w.org.owner.post(at(w, `/calendars/${id}/shares`), { email, level: 'write' })).status, 201)
    const guest = `${kind}@example.com`
    const attendees = [{ email: guest }]
    const { id: eventId } = await makeEvent(t, w, {
      calendar_id: id,
      start: '2030-03-01T09:00:00Z',
      attendees,
      recurrence: 'FREQ=DAILY;COUNT=3',
    })
    const { text } = await editor.client.get(at(w, `/calendars/${id}/export`))
    t.regex(text.replaceAll(/\r\n /g, ''), new RegExp(`^ORGANIZER.*${await readEmail(w.db, w.org.ownerId)}`, 'm'), kind)
    t.like((await editor.client.send('POST', at(w, `/calendars/${id}/import`), text, type)).data, { updated: 1 }, kind)
    t.is((await editor.client.patch(at(w, `/events/${eventId}`), { start: '2030-03-02T09:00:00Z' })).status, 200, kind)
    await w.drain()
    const mails = await mailsTo(w, guest)
    t.deepEqual(
      mails.map(({ subject }) => subject),
      ['Invitation: Review', 'Changed: Review'],
      kind,
    )
    t.is(mails[1]?.replyTo?.[0]?.address, await readEmail(w.db, w.org.ownerId), kind)
  }
})
