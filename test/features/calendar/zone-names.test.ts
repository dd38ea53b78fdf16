import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'
import { readZones, setZones } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)

/** Short names of ICU, of which no list of IANA knows any. */
const shortNames = (
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST ' + 'SystemV/PST8 SystemV/EST5EDT'
).split(' ')
const weekdays = { mon: [['09:00', '17:00']] }

test('zone names: IANA names and their older forms are zones, in their letter case', (t) => {
  const names = ['Europe/Berlin', 'Asia/Calcutta', 'Asia/Kolkata', 'CET', 'MET', 'EST', 'UTC', 'GMT', 'EST5EDT', 'Etc/GMT+1', 'US/Pacific']
  const links = ['GB-Eire', 'NZ-CHAT', 'W-SU', 'America/Port-au-Prince', 'Antarctica/DumontDUrville', 'America/North_Dakota/New_Salem']
  for (const name of [...names, ...links, ...Intl.supportedValuesOf('timeZone')]) t.true(isTimeZone(name), name)
  for (const name of [...shortNames, 'europe/berlin', 'ASIA/KOLKATA', '+02:00', '', 'Mars/Base', 'Factory']) t.false(isTimeZone(name), name)
})

test('zone names: a short name of ICU is refused wherever a zone is named', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const settings = { booking: { enabled: true, durations: [30], hours: weekdays } }
  const calendar = await makeCalendar(t, w, { settings })
  const event = await makeEvent(t, w, { calendar_id: calendar.id })
  for (const timezone of shortNames) {
    const answers = [
      await owner.patch(path, { timezone }),
      await owner.post(at(w, '/calendars'), { key: `z-${timezone.toLowerCase().slice(0, 3)}`, kind: 'org', name: 'Z', timezone }),
      await owner.patch(at(w, `/calendars/${calendar.id}`), { timezone }),
      await owner.post(at(w, '/events'), { calendar_id: calendar.id, title: 'Z', start: '2026-12-01T09:00:00Z', timezone }),
      await owner.patch(at(w, `/events/${event.id}`), { timezone }),
      await owner.post(at(w, '/suggest'), { users: [], from: '2026-12-01', to: '2026-12-02', duration: 30, timezone }),
    ]
    for (const [index, { status, body, text }] of answers.entries()) {
      t.is(status, 400, `${timezone} ${index} ${text}`)
      t.regex(body.error.message, /timezone must be a name of the IANA list such as Europe\/Berlin/)
    }
    const page = await w.visitor.get(`/book/${w.org.id}/${calendar.key}?tz=${encodeURIComponent(timezone)}`)
    t.is(page.status, 400, timezone)
    t.regex(page.text, /tz must be a name of the IANA list/)
  }
  t.is((await w.visitor.get(`/book/${w.org.id}/${calendar.key}?tz=`)).status, 200, 'an empty one is none')
})

test('zone names: a short name in a file is no zone, so that its time is that of the calendar', async (t) => {
  const w = await shared()
  const { id } = await makeCalendar(t, w, { timezone: 'Europe/Berlin' })
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'X-WR-TIMEZONE:PST', 'BEGIN:VEVENT', 'UID:ist', 'SUMMARY:Call']
  const file = [...lines, 'DTSTART;TZID=IST:20260701T090000', 'RRULE:FREQ=DAILY;COUNT=2', 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n')
  const sent = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), file, { 'content-type': 'text/calendar' })
  t.is(sent.status, 200, sent.text)
  t.regex(sent.data.warnings[0].message, /unknown time zone IST/)
  t.deepEqual(await occurrences(w, '2026-07-01', '2026-07-03', w.org.owner, `&calendars=${id}`), [
    'Call 2026-07-01T07:00Z',
    'Call 2026-07-02T07:00Z',
  ])
  t.deepEqual(
    (await readZones(w.db, w.org.id)).filter((zone) => shortNames.includes(zone)),
    [],
  )
})

test('zone names: stored short names become the IANA names that they mean, each with a line in the log', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const calendar = await makeCalendar(t, w, { timezone: 'Asia/Kolkata' })
  const event = await makeEvent(t, w, { calendar_id: calendar.id, timezone: 'Asia/Kolkata', recurrence: 'FREQ=DAILY;COUNT=2' })
  const seen = () => occurrences(w, '2026-12-01', '2026-12-05', w.org.owner, `&calendars=${calendar.id}`)
  const before = await seen()
  await setZones(w.db, { workspace: 'PST', calendar: 'BST', event: 'IST' })
  const env = { ...process.env, DATABASE_URL: w.config.databaseUrl, SECRET_KEY: '0'.repeat(64) }
  const { stderr } = await promisify(execFile)(process.execPath, ['bin/kontor.ts', 'migrate'], { env })
  t.is((await w.org.owner.get(w.org.path)).data.timezone, 'America/Los_Angeles')
  t.is((await w.org.owner.get(at(w, `/calendars/${calendar.id}`))).data.timezone, 'Asia/Dhaka')
  t.is((await w.org.owner.get(at(w, `/events/${event.id}`))).data.timezone, 'Asia/Kolkata')
  t.deepEqual(await seen(), before)
  const lines = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  for (const [object, id, name, zone] of [
    ['workspace', w.org.id, 'PST', 'America/Los_Angeles'],
    ['calendar', calendar.id, 'BST', 'Asia/Dhaka'],
    ['event', event.id, 'IST', 'Asia/Kolkata'],
  ])
    t.true(
      lines.some(
        (line) =>
          line.workspace_id === w.org.id && line.object === object && line.id === id && line.old_zone === name && line.new_zone === zone,
      ),
      stderr,
    )
})
