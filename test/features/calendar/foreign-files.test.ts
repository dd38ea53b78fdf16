import test, { type ExecutionContext } from 'ava'
import { readEvents } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, occurrences } from '#test/features/calendar/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)
const type = { 'content-type': 'text/calendar' }

const file = (...lines: readonly string[]): string => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')
const event = (...lines: readonly string[]): string => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n')

async function bring(t: ExecutionContext, w: World, text: string | Buffer, into?: string) {
  const id: string = into ?? (await makeCalendar(t, w, { timezone: 'Europe/Berlin' })).id
  const { status, data, text: body } = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), text, type)
  t.is(status, 200, body)
  return { id, data, warnings: data.warnings.map(({ message }: { message: string }) => message) as string[] }
}
const seen = (w: World, id: string) => occurrences(w, '2026-01-01', '2026-12-31', w.org.owner, `&calendars=${id}`)

test('foreign files: a second import of a file keeps the ids, sequences and invitation links of exceptions and guests', async (t) => {
  const w = await fresh()
  const guest = 'ATTENDEE;PARTSTAT=ACCEPTED:mailto:guest@example.com'
  const series = ['UID:a', 'DTSTART:20260301T090000Z', 'RRULE:FREQ=DAILY;COUNT=4', 'SUMMARY:Old', guest]
  const second = event('UID:a', 'SEQUENCE:5', 'RECURRENCE-ID:20260302T090000Z', 'DTSTART:20260302T120000Z', 'SUMMARY:Moved', guest)
  const third = event('UID:a', 'RECURRENCE-ID:20260303T090000Z', 'DTSTART:20260303T150000Z', 'SUMMARY:Later')
  const { id } = await bring(t, w, file(event(...series), second, third))
  const rows = () => readEvents(w.db, id)
  const before = await rows()
  t.is(before.length, 3)
  const lower = second.replace('SEQUENCE:5', 'SEQUENCE:1')
  t.like((await bring(t, w, file(event(...series), lower, third), id)).data, { created: 0, updated: 1 })
  t.deepEqual(await rows(), before)
  const { data } = await bring(t, w, file(event(...series), second.replace('Moved', 'Moved again')), id)
  t.like(data, { created: 0, updated: 1 })
  const after = await rows()
  t.deepEqual(
    after.map(({ id, title }) => [id, title]),
    [
      [before[0]?.id, 'Old'],
      [before[1]?.id, 'Moved again'],
    ],
    'what the file no longer holds is gone',
  )
  const without = series.filter((line) => line !== guest)
  await bring(t, w, file(event(...without), second), id)
  t.deepEqual(
    (await rows()).map(({ guest }) => guest),
    [null, before[1]?.guest],
  )
})

test('foreign files: lines folded within a character are joined, and a byte order mark is ignored', async (t) => {
  const w = await fresh()
  const title = 'Grüße 北京 🎉 Ende'
  const bytes = Buffer.from(file(event('UID:a', 'DTSTART:20260301T090000Z', `SUMMARY:${title}`)))
  const first = bytes.indexOf(Buffer.from(title))
  const parts = [bytes.subarray(0, first)]
  for (const byte of Buffer.from(title)) parts.push(Buffer.from([byte]), Buffer.from('\r\n '))
  const folded = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), ...parts, bytes.subarray(first + Buffer.byteLength(title))])
  const { id, data } = await bring(t, w, folded)
  t.like(data, { created: 1, warnings: [] })
  t.deepEqual(await seen(w, id), [`${title} 2026-03-01T09:00Z`])
})

test('foreign files: occurrences of one UID without their series are imported as a series, a single one as an event, with a warning', async (t) => {
  const w = await fresh()
  const occurrence = (day: string, title: string, hour = '09') =>
    event(
      'UID:g',
      `RECURRENCE-ID;TZID=Europe/Berlin:202603${day}T090000`,
      `DTSTART;TZID=Europe/Berlin:202603${day}T${hour}0000`,
      `SUMMARY:${title}`,
    )
  const alone = event('UID:h', 'RECURRENCE-ID:20260501T090000Z', 'DTSTART:20260501T100000Z', 'SUMMARY:Alone')
  const text = file(occurrence('20', 'Third'), occurrence('06', 'First', '11'), occurrence('13', 'Second'), alone)
  const { id, data, warnings } = await bring(t, w, text)
  t.like(data, { created: 2, updated: 0, skipped: 0 })
  t.deepEqual(warnings, [
    'has 3 occurrences without their series: they are imported as a series of their own',
    'is an occurrence without its series: it is imported as a single event',
  ])
  const expected = ['First 2026-03-06T10:00Z', 'Second 2026-03-13T08:00Z', 'Third 2026-03-20T08:00Z', 'Alone 2026-05-01T10:00Z']
  t.deepEqual(await seen(w, id), expected)
  t.like((await bring(t, w, text, id)).data, { created: 0, updated: 2 })
  t.deepEqual(await seen(w, id), expected)
  const whole = event('UID:g', 'DTSTART;TZID=Europe/Berlin:20260306T090000', 'RRULE:FREQ=WEEKLY;COUNT=3', 'SUMMARY:Series')
  await bring(t, w, file(whole, occurrence('13', 'Second')), id)
  t.deepEqual(await seen(w, id), ['Series 2026-03-06T08:00Z', 'Second 2026-03-13T08:00Z', 'Series 2026-03-20T08:00Z', expected[3] ?? ''])
})

/** Properties as other programs write them, and the occurrences in 2026 that they mean. */
const lenient: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['DTSTART:20261225', 'DTEND:20261226'], ['2026-12-25']],
  [['DTSTART;TZID=Europe/Berlin:20261225'], ['2026-12-25']],
  [
    ['DTSTART:20261201', 'RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:20261202'],
    ['2026-12-01', '2026-12-03'],
  ],
  [['DTSTART:20261201T1000'], ['2026-12-01T09:00Z']],
  [
    ['DTSTART:20261230T090000Z', 'RRULE:FREQ=DAILY;COUNT=-1;UNTIL=20261231'],
    ['2026-12-30T09:00Z', '2026-12-31T09:00Z'],
  ],
  [
    ['DTSTART:20261203T090000Z', 'RRULE:FREQ=WEEKLY;BYDAY=TH ;COUNT=2'],
    ['2026-12-03T09:00Z', '2026-12-10T09:00Z'],
  ],
  [
    ['DTSTART:20261203T090000Z', 'RRULE:freq=weekly;count=2;'],
    ['2026-12-03T09:00Z', '2026-12-10T09:00Z'],
  ],
  [
    ['DTSTART:20261203T090000Z', 'RRULE:RSCALE=GREGORIAN;FREQ=DAILY;SKIP=OMIT;X-OWN=1;COUNT=2'],
    ['2026-12-03T09:00Z', '2026-12-04T09:00Z'],
  ],
]
for (const [lines, starts] of lenient) {
  test(`foreign files: an event of ${lines.join(' ')} comes in`, async (t) => {
    const w = await fresh()
    const { id, data } = await bring(t, w, file(event('UID:a', ...lines, 'SUMMARY:X')))
    t.like(data, { created: 1, skipped: 0 })
    t.deepEqual(
      await seen(w, id),
      starts.map((start) => `X ${start}`),
    )
  })
}

/** Lines that are imported with a change, and the warning of each. */
const warned: readonly (readonly [readonly string[], string])[] = [
  [
    ['DTSTART;TZID=Middle Earth:20260301T090000'],
    'is in the unknown time zone Middle Earth, which the file does not describe: it is read as Europe/Berlin',
  ],
  [['DTSTART:20260301T090000Z', 'DTSTART:20260401T090000Z'], 'has several DTSTART: the first one counts'],
  [
    ['RECURRENCE-ID:20260301T090000Z', 'DTSTART:20260301T090000Z', 'RRULE:FREQ=DAILY;COUNT=2'],
    'repeats beside its RECURRENCE-ID, which is left out',
  ],
  [['DTSTART:20260301T090000Z', 'RRULE:FREQ=DAILY;COUNT=0;UNTIL=20260301'], 'has COUNT=0 in its RRULE, which is left out'],
  [['DTSTART:20260301T090000Z', 'DTEND:20260301T093000Z', 'DURATION:PT2H'], 'has DTEND and DURATION: DTEND counts'],
]
for (const [lines, message] of warned) {
  test(`foreign files: the warning "${message}" reports a line that is imported with a change`, async (t) => {
    const w = await fresh()
    const { data, warnings } = await bring(t, w, file(event('UID:a', ...lines, 'SUMMARY:X')))
    t.is(data.created, 1)
    t.true(warnings.includes(message), warnings.join('\n'))
  })
}
