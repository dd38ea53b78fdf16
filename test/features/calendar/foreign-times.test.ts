import test, { type ExecutionContext } from 'ava'
import { at, makeCalendar } from '#test/features/calendar/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)
const type = { 'content-type': 'text/calendar' }

const file = (...lines: readonly string[]): string => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')
const event = (...lines: readonly string[]): string => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n')

async function bring(t: ExecutionContext, w: World, text: string | Buffer, into?: string, headers: object = type) {
  const id: string = into ?? (await makeCalendar(t, w, { timezone: 'Europe/Berlin' })).id
  const { status, data, text: body } = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), text, headers as typeof type)
  t.is(status, 200, body)
  return { id, data, warnings: data.warnings.map(({ message }: { message: string }) => message) as string[] }
}

interface Listed {
  readonly event_id: string
  readonly title: string
  readonly start: string
  readonly end: string
  readonly status: string
}
const short = (time: string) => time.replace(':00.000000Z', 'Z')
async function listed(w: World, id: string, year = 2027): Promise<Listed[]> {
  return (await w.org.owner.get(at(w, `/events?from=${year}-01-01&to=${year}-12-31&calendars=${id}`))).data.events
}
const spans = async (w: World, id: string, year = 2027): Promise<string[]> =>
  (await listed(w, id, year)).map(({ start, end }) => `${short(start)} ${short(end)}`)
const starts = async (w: World, id: string, year = 2027): Promise<string[]> =>
  (await listed(w, id, year)).map(({ title, start }) => `${title} ${short(start)}`)

/** The export of a calendar, imported into another one, has the same occurrences; and so has another import of the file. */
async function comesBack(
  t: ExecutionContext,
  w: World,
  id: string,
  text: string | Buffer,
  message: string,
  headers: object = type,
): Promise<void> {
  const before = await listed(w, id)
  const times = (all: readonly Listed[]) => all.map(({ title, start, end, status }) => [title, start, end, status])
  const exported = await w.org.owner.get(at(w, `/calendars/${id}/export`))
  const other = await bring(t, w, exported.text)
  t.deepEqual(times(await listed(w, other.id)), times(before), `${message}: its export\n${exported.text}`)
  const again = await bring(t, w, text, id, headers)
  t.is(again.data.created, 0, message)
  t.deepEqual(await listed(w, id), before, `${message}: twice`)
}

const berlin = 'TZID=Europe/Berlin'
/** Lines of an event, and its occurrences in 2027 as starts and ends. */
const times: readonly (readonly [lines: readonly string[], spans: readonly string[]])[] = [
  [[`DTSTART;${berlin}:20270327T120000`, 'DURATION:P1D'], ['2027-03-27T11:00Z 2027-03-28T10:00Z']],
  [[`DTSTART;${berlin}:20270327T120000`, 'DURATION:PT24H'], ['2027-03-27T11:00Z 2027-03-28T11:00Z']],
  [[`DTSTART;${berlin}:20270327T120000`, 'DURATION:P1W'], ['2027-03-27T11:00Z 2027-04-03T10:00Z']],
  [[`DTSTART;${berlin}:20271030T120000`, 'DURATION:P1DT2H'], ['2027-10-30T10:00Z 2027-10-31T13:00Z']],
  [['DTSTART;VALUE=DATE:20270327', 'DURATION:P2D'], ['2027-03-27 2027-03-29']],
  [
    [`DTSTART;${berlin}:20270301T090000`, 'DURATION:PT1H', `RDATE;VALUE=PERIOD;${berlin}:20270327T120000/P1D,20270310T090000/PT3H`],
    ['2027-03-01T08:00Z 2027-03-01T09:00Z', '2027-03-10T08:00Z 2027-03-10T11:00Z', '2027-03-27T11:00Z 2027-03-28T10:00Z'],
  ],
  [
    [
      'DTSTART:20270301T090000Z',
      'DTEND:20270301T100000Z',
      'RDATE;VALUE=PERIOD:20270310T090000Z/20270310T100000Z,20270311T090000Z/20270311T113000Z',
    ],
    ['2027-03-01T09:00Z 2027-03-01T10:00Z', '2027-03-10T09:00Z 2027-03-10T10:00Z', '2027-03-11T09:00Z 2027-03-11T11:30Z'],
  ],
  [
    ['DTSTART;VALUE=DATE:20270301', 'RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:20270301T230000Z'],
    ['2027-03-01 2027-03-02', '2027-03-03 2027-03-04'],
  ],
  [
    ['DTSTART;VALUE=DATE:20270301', 'RDATE:20270304T230000Z'],
    ['2027-03-01 2027-03-02', '2027-03-05 2027-03-06'],
  ],
  [
    ['DTSTART:20270301T090000Z', 'RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=6', 'RDATE:20270302T110000Z', 'EXDATE;VALUE=DATE:20270302'],
    [
      '2027-03-01T09:00Z 2027-03-01T09:00Z',
      '2027-03-01T15:00Z 2027-03-01T15:00Z',
      '2027-03-03T09:00Z 2027-03-03T09:00Z',
      '2027-03-03T15:00Z 2027-03-03T15:00Z',
    ],
  ],
  [
    [`DTSTART;${berlin}:20270328T023000`, 'DURATION:PT15M', 'RRULE:FREQ=DAILY;COUNT=3'],
    ['2027-03-28T01:30Z 2027-03-28T01:45Z', '2027-03-29T00:30Z 2027-03-29T00:45Z', '2027-03-30T00:30Z 2027-03-30T00:45Z'],
  ],
  [
    ['DTSTART;TZID=Australia/Lord_Howe:20271003T021500', 'DURATION:PT15M', 'RRULE:FREQ=WEEKLY;COUNT=2'],
    ['2027-10-02T15:45Z 2027-10-02T16:00Z', '2027-10-09T15:15Z 2027-10-09T15:30Z'],
  ],
]
test('foreign times: lengths in days go by the clock, and starts of a series by its day and clock', async (t) => {
  const w = await fresh()
  for (const [lines, expected] of times) {
    const text = file(event('UID:a', 'SUMMARY:X', ...lines))
    const { id, warnings } = await bring(t, w, text)
    t.deepEqual(await spans(w, id), expected, lines.join(' '))
    t.deepEqual(warnings, [], lines.join(' '))
    await comesBack(t, w, id, text, lines.join(' '))
  }
})

/** A described zone: its name, its observances, and lines of an event with their starts in 2027. */
const observance = (name: string, from: string, to: string, ...lines: readonly string[]): string =>
  [`BEGIN:${name}`, `TZOFFSETFROM:${from}`, `TZOFFSETTO:${to}`, ...lines, `END:${name}`].join('\r\n')
const zone = (tzid: string, ...observances: readonly string[]): string =>
  ['BEGIN:VTIMEZONE', `TZID:${tzid}`, ...observances, 'END:VTIMEZONE'].join('\r\n')
const [spring, autumn] = ['RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU', 'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU']

const described: readonly (readonly [text: string, starts: readonly string[], warning?: RegExp])[] = [
  [
    file(
      zone(
        'Own',
        observance('STANDARD', '+0300', '+0200', 'DTSTART:20001029T030000', `${autumn};UNTIL=20131027T000000Z`),
        observance('DAYLIGHT', '+0200', '+0300', 'DTSTART:20000326T020000', `${spring};UNTIL=20140330T000000Z`),
      ),
      event('UID:a', 'SUMMARY:X', 'DTSTART;TZID=Own:20270101T090000', 'RRULE:FREQ=MONTHLY;INTERVAL=6;COUNT=2'),
    ),
    ['X 2027-01-01T06:00Z', 'X 2027-07-01T06:00Z'],
  ],
  [
    // An end in UTC that is before the last onset in local time, but not in UTC.
    file(
      zone(
        'Own',
        observance('STANDARD', '-0900', '-1000', 'DTSTART:20001029T010000', `${autumn};UNTIL=20251026T100000Z`),
        observance('DAYLIGHT', '-1000', '-0900', 'DTSTART:20000326T020000', `${spring};UNTIL=20250330T120000Z`),
      ),
      event('UID:a', 'SUMMARY:X', 'DTSTART;TZID=Own:20270701T090000'),
    ),
    ['X 2027-07-01T19:00Z'],
  ],
  [
    file(
      zone('Europe/Berlin', observance('STANDARD', '+0900', '+0900', 'DTSTART:19700101T000000')),
      event('UID:a', 'SUMMARY:X', `DTSTART;${berlin}:20270701T090000`, 'RRULE:FREQ=DAILY;COUNT=2', `EXDATE;${berlin}:20270702T090000`),
    ),
    ['X 2027-07-01T00:00Z'],
    /^is in Europe\/Berlin, which the file describes with other offsets: it is read as /,
  ],
  [
    file(
      zone('Europe/Berlin', observance('STANDARD', '+0900', '+0900', 'DTSTART:20300101T000000')),
      event('UID:a', 'SUMMARY:X', `DTSTART;${berlin}:20270701T090000`),
    ),
    ['X 2027-07-01T07:00Z'],
  ],
  [
    file(
      zone('Own', observance('STANDARD', '+0200', '+0200', 'DTSTART:19700101T000000')),
      event('UID:a', 'SUMMARY:A', 'DTSTART;TZID=Own:20270701T090000'),
    ) +
      file(
        zone('Own', observance('STANDARD', '-0500', '-0500', 'DTSTART:19700101T000000')),
        event('UID:b', 'SUMMARY:B', 'DTSTART;TZID=Own:20270701T090000'),
      ) +
      file('X-WR-TIMEZONE:Asia/Tokyo', event('UID:c', 'SUMMARY:C', 'DTSTART:20270701T090000')) +
      file(event('UID:d', 'SUMMARY:D', 'DTSTART:20270701T120000')),
    ['C 2027-07-01T00:00Z', 'A 2027-07-01T07:00Z', 'D 2027-07-01T10:00Z', 'B 2027-07-01T14:00Z'],
  ],
]
test('foreign times: each calendar of a file has its own zones, and a zone counts by its description', async (t) => {
  const w = await fresh()
  for (const [text, expected, warning] of described) {
    const { id, warnings } = await bring(t, w, text)
    t.deepEqual(await starts(w, id), expected, text)
    if (warning) t.regex(warnings.join('\n'), warning)
    else t.deepEqual(warnings, [], text)
    await comesBack(t, w, id, text, text)
  }
})

const alarm = (...lines: readonly string[]): string => ['BEGIN:VALARM', 'ACTION:DISPLAY', ...lines, 'END:VALARM'].join('\r\n')
/** Lines of an event, its reminders, and the warnings. */
const alarms: readonly (readonly [lines: readonly string[], reminders: readonly number[], warnings?: readonly string[]])[] = [
  [[alarm('TRIGGER;RELATED=START:-PT15M')], [15]],
  [[alarm('TRIGGER;RELATED=END:-PT90M')], [30]],
  [[alarm('TRIGGER;VALUE=DATE-TIME:20270328T073000Z')], [30]],
  [[alarm('TRIGGER:-P1D')], [1380]],
  [[alarm('TRIGGER:-PT24H')], [1440]],
  [['RRULE:FREQ=DAILY;COUNT=2', alarm('TRIGGER:-P1D')], [1440]],
  [[alarm('TRIGGER:PT5M')], [], ['has an alarm of a time after the start, which is left out']],
  [[alarm('TRIGGER:-P8D')], [], ['has an alarm of a time more than 7 days before the start, which is left out']],
  [[alarm('TRIGGER:soon')], [], ['has an alarm of no time, which is left out']],
  [[alarm('DESCRIPTION:x')], [], ['has an alarm of no time, which is left out']],
  [
    ['RRULE:FREQ=DAILY;COUNT=2', alarm('TRIGGER;VALUE=DATE-TIME:20270328T073000Z')],
    [30],
    ['has an alarm at an instant, which is kept as a reminder of each occurrence'],
  ],
  [[1, 2, 3, 4, 5, 6].map((n) => alarm(`TRIGGER:-PT${n}M`)), [1, 2, 3, 4, 5], ['has 6 alarms, of which 5 are kept']],
  [[alarm('TRIGGER;VALUE=DATE-TIME:19760401T005545Z').replace('DISPLAY', 'NONE')], []],
]
test('foreign times: alarms become reminders, whatever they are relative to; those that cannot are a warning', async (t) => {
  const w = await fresh()
  for (const [lines, reminders, expected = []] of alarms) {
    const text = file(event('UID:a', `DTSTART;${berlin}:20270328T100000`, `DTEND;${berlin}:20270328T110000`, ...lines))
    const { id, warnings } = await bring(t, w, text)
    const [first] = await listed(w, id)
    t.deepEqual((await w.org.owner.get(at(w, `/events/${first?.event_id}`))).data.reminders, reminders, text)
    t.deepEqual(warnings, expected, text)
  }
})

/** Lines of an event, and its description. */
const links: readonly (readonly [lines: readonly string[], description: string])[] = [
  [['URL:https://example.com/a'], 'https://example.com/a'],
  [['DESCRIPTION:Text', 'CONFERENCE;VALUE=URI;FEATURE=VIDEO:https://meet.example.com/x'], 'Text\nhttps://meet.example.com/x'],
  [['DESCRIPTION:See https://example.com/a.', 'URL:https://example.com/a'], 'See https://example.com/a.'],
  [['DESCRIPTION:See https://example.com/ab', 'URL:https://example.com/a'], 'See https://example.com/ab\nhttps://example.com/a'],
  [
    [
      'DESCRIPTION:T',
      'URL:https://example.com/a',
      'X-GOOGLE-CONFERENCE:https://example.com/a',
      'X-GOOGLE-CONFERENCE:https://meet.example.com/b',
    ],
    'T\nhttps://example.com/a\nhttps://meet.example.com/b',
  ],
]
test('foreign times: links of pages and conferences are lines of the description, once', async (t) => {
  const w = await fresh()
  for (const [lines, description] of links) {
    const text = file(event('UID:a', 'DTSTART:20270328T100000Z', ...lines))
    const { id } = await bring(t, w, text)
    const read = async () => (await w.org.owner.get(at(w, `/events/${(await listed(w, id))[0]?.event_id}`))).data.description
    t.is(await read(), description)
    await bring(t, w, (await w.org.owner.get(at(w, `/calendars/${id}/export`))).text, id)
    t.is(await read(), description, 'from its own export')
  }
})

test('foreign times: a guest without a mail address as value is taken by EMAIL, and one without any is a warning', async (t) => {
  const w = await fresh()
  const text = file(
    event(
      'UID:a',
      'DTSTART:20270328T100000Z',
      'ORGANIZER;CN=Boss;EMAIL=boss@example.com:/abc/principal/',
      'ATTENDEE;EMAIL=guest@example.com;PARTSTAT=ACCEPTED:/abc/principal/',
      'ATTENDEE;EMAIL=other@example.com:urn:uuid:550e8400-e29b-41d4-a716-446655440000',
      'ATTENDEE;EMAIL=ignored@example.com:mailto:own@example.com',
      'ATTENDEE;CN=Room:/abc/room/',
    ),
  )
  const { id, warnings } = await bring(t, w, text)
  const { data } = await w.org.owner.get(at(w, `/events/${(await listed(w, id))[0]?.event_id}`))
  t.deepEqual(
    data.attendees.map(({ email, status }: { email: string; status: string }) => `${email} ${status}`),
    ['guest@example.com accepted', 'other@example.com needs_action', 'own@example.com needs_action'],
  )
  t.deepEqual(warnings, ['has 1 guests without a mail address, who are left out'])
  t.regex((await w.org.owner.get(at(w, `/calendars/${id}/export`))).text, /ORGANIZER[^:]*:mailto:boss@example\.com/i)
})

test('foreign times: a change of all later occurrences splits the series there', async (t) => {
  const w = await fresh()
  const series = event('UID:a', `DTSTART;${berlin}:20270301T090000`, 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=5', 'SUMMARY:Old')
  const change = (day: string, to: string, title: string, range = ';RANGE=THISANDFUTURE') =>
    event(
      'UID:a',
      `RECURRENCE-ID;${berlin}${range}:202703${day}T090000`,
      `DTSTART;${berlin}:202703${to}`,
      'DURATION:PT2H',
      `SUMMARY:${title}`,
    )
  const text = file(
    series,
    change('15', '16T100000', 'New'),
    change('22', '23T150000', 'Single', ''),
    change('08', '08T110000', 'Second', ''),
  )
  const { id, data, warnings } = await bring(t, w, text)
  t.deepEqual(warnings, [])
  t.like(data, { created: 2 })
  const expected = [
    'Old 2027-03-01T08:00Z',
    'Second 2027-03-08T10:00Z',
    'New 2027-03-16T09:00Z',
    'Single 2027-03-23T14:00Z',
    'New 2027-03-30T08:00Z',
  ]
  t.deepEqual(await starts(w, id), expected)
  await comesBack(t, w, id, text, 'one split')
  const twice = file(series, change('15', '16T100000', 'New'), change('22', '24T080000', 'Last'))
  const second = await bring(t, w, twice)
  t.deepEqual(await starts(w, second.id), [
    'Old 2027-03-01T08:00Z',
    'Old 2027-03-08T08:00Z',
    'New 2027-03-16T09:00Z',
    'Last 2027-03-24T07:00Z',
    'Last 2027-03-31T06:00Z',
  ])
  await comesBack(t, w, second.id, twice, 'two splits')
  const whole = file(series, change('01', '02T100000', 'All'))
  const third = await bring(t, w, whole)
  t.like(third.data, { created: 1 })
  t.is((await starts(w, third.id)).join().match(/All 2027-0\d-\d\dT0[89]:00Z/g)?.length, 5)
  const alone = await bring(t, w, file(change('15', '16T100000', 'New')))
  t.regex(alone.warnings.join('\n'), /of which only the first is imported/)
})

test('foreign times: of two events of one UID without RECURRENCE-ID, a warning names the one that stays', async (t) => {
  const w = await fresh()
  const two = ['Kept', 'Gone'].map((title, index) =>
    event('UID:a', `SEQUENCE:${2 - index}`, 'DTSTART:20270301T090000Z', `SUMMARY:${title}`),
  )
  const { id, warnings } = await bring(t, w, file(...two))
  t.deepEqual(await starts(w, id), ['Kept 2027-03-01T09:00Z'])
  t.deepEqual(warnings, ['has 2 events of this UID without RECURRENCE-ID: "Kept" of line 3 stays'])
})

test('foreign times: METHOD:CANCEL cancels what it names, and keeps everything else of it', async (t) => {
  const w = await fresh()
  const guest = 'ATTENDEE;PARTSTAT=ACCEPTED:mailto:guest@example.com'
  const series = event('UID:a', 'DTSTART:20270301T090000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=4', 'SUMMARY:S', guest)
  const { id } = await bring(t, w, file(series, event('UID:b', 'DTSTART:20270401T090000Z', 'SUMMARY:B')))
  const cancel = (...events: readonly string[]) => file('METHOD:CANCEL', ...events)
  const states = async () => (await listed(w, id)).map(({ title, start, status }) => `${title} ${start.slice(5, 10)} ${status}`)
  const one = cancel(event('UID:a', 'SEQUENCE:3', 'RECURRENCE-ID:20270302T090000Z'))
  t.like((await bring(t, w, one, id)).data, { created: 0, updated: 1, skipped: 0, warnings: [] })
  const afterOne = ['S 03-01 confirmed', 'S 03-02 cancelled', 'S 03-03 confirmed', 'S 03-04 confirmed', 'B 04-01 confirmed']
  t.deepEqual(await states(), afterOne)
  await bring(t, w, one, id)
  t.deepEqual(await states(), afterOne, 'twice')
  await bring(t, w, cancel(event('UID:b')), id)
  t.deepEqual((await states()).at(-1), 'B 04-01 cancelled')
  await bring(t, w, cancel(event('UID:a', 'RECURRENCE-ID;RANGE=THISANDFUTURE:20270304T090000Z')), id)
  t.deepEqual(await states(), ['S 03-01 confirmed', 'S 03-02 cancelled', 'S 03-03 confirmed', 'B 04-01 cancelled'])
  const [first] = await listed(w, id)
  t.like((await w.org.owner.get(at(w, `/events/${first?.event_id}`))).data.attendees[0], { email: 'guest@example.com', status: 'accepted' })
  await bring(t, w, cancel(event('UID:a', 'DTSTART:20270301T090000Z', 'SUMMARY:Other')), id)
  t.deepEqual(await states(), ['S 03-01 cancelled', 'S 03-02 cancelled', 'S 03-03 cancelled', 'B 04-01 cancelled'])
  const unknown = await bring(t, w, cancel(event('UID:none'), event('UID:b', 'RECURRENCE-ID:20270302T090000Z')), id)
  t.like(unknown.data, { created: 0, updated: 1, skipped: 1 })
  t.deepEqual(unknown.warnings.sort(), [
    'cancels an event that the calendar does not have',
    'cancels an occurrence that the event does not have, in line 7',
  ])
})

for (const method of ['REPLY', 'COUNTER', 'REFRESH', 'DECLINECOUNTER'])
  test(`foreign times: events of METHOD:${method} are left out with a warning`, async (t) => {
    const w = await fresh()
    const { id } = await bring(t, w, file(event('UID:a', 'DTSTART:20270301T090000Z', 'SUMMARY:A')))
    const { data, warnings } = await bring(t, w, file(`METHOD:${method}`, event('UID:a', 'DTSTART:20270401T090000Z', 'SUMMARY:B')), id)
    t.like(data, { created: 0, updated: 0, skipped: 1 })
    t.deepEqual(warnings, [`is a METHOD:${method}, a message about an event, which is left out`])
    t.deepEqual(await starts(w, id), ['A 2027-03-01T09:00Z'])
  })

const sized = (encoding: BufferEncoding) => Buffer.from(file(event('UID:a', 'DTSTART:20270301T090000Z', 'SUMMARY:Größe')), encoding)
test('foreign times: a file is read in the charset that its content type declares, else as UTF-8', async (t) => {
  const w = await fresh()
  const folded = Buffer.concat(['SUMMARY:Gr\u00f6', '\r\n \u00dfe'].map((part) => Buffer.from(part, 'latin1')))
  const plain = sized('latin1')
  const at0 = plain.indexOf('SUMMARY')
  const cases: readonly (readonly [string, Buffer])[] = [
    ['text/calendar; charset=windows-1252', plain],
    [
      'text/calendar; charset="ISO-8859-1"',
      Buffer.concat([plain.subarray(0, at0), folded, plain.subarray(at0 + 'SUMMARY:Gr\u00f6\u00dfe'.length)]),
    ],
    ['text/calendar; charset=utf-16le', sized('utf16le')],
    ['text/calendar; charset=UTF-8', sized('utf8')],
    ['text/calendar', sized('utf8')],
  ]
  for (const [contentType, bytes] of cases) {
    const { id } = await bring(t, w, bytes, undefined, { 'content-type': contentType })
    t.deepEqual(await starts(w, id), ['Größe 2027-03-01T09:00Z'], contentType)
    const form = new FormData()
    form.append('file', new Blob([new Uint8Array(bytes)], { type: contentType }), 'a.ics')
    const other = await makeCalendar(t, w)
    t.is((await w.org.owner.send('POST', at(w, `/calendars/${other.id}/import`), form)).status, 200)
    t.deepEqual(await starts(w, other.id), ['Größe 2027-03-01T09:00Z'], `${contentType} in a form`)
  }
  const { id } = await makeCalendar(t, w)
  const refused: readonly (readonly [string, Buffer, RegExp])[] = [
    ['text/calendar', plain, /file must be in UTF-8, or in the charset that its content type declares: line 6 is not valid utf-8/],
    ['text/calendar; charset=utf-8', plain, /file must be in utf-8: line 6/],
    ['text/calendar; charset=klingon', plain, /file must have a known charset such as utf-8 or iso-8859-1, got klingon/],
  ]
  for (const [contentType, bytes, message] of refused) {
    const { status, body } = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), bytes, { 'content-type': contentType })
    t.is(status, 400)
    t.regex(body.error.message, message)
  }
  t.deepEqual(await starts(w, id), [])
})
