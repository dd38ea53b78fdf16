import test from 'ava'
import { readIcs } from '#shared/features/calendar/ics/read-file.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Reads a file in a calendar, and counts how often reading would give the thread back. */
async function read(lines: string) {
  let pauses = 0
  const pause = async () => {
    pauses += 1
  }
  const budget = { ...computeBudget('w', { steps: 20_000_000, bound: 'few steps' }), pause }
  const file = await readIcs(Buffer.from(`BEGIN:VCALENDAR\n${lines}\nEND:VCALENDAR\n`), 'Europe/Berlin', { contentType: '', budget })
  return { ...file, pauses }
}

const eventOf = (rest: string, start = 'DTSTART:20260105T090000') => `BEGIN:VEVENT\nUID:a\n${start}\n${rest}\nEND:VEVENT`

/** A zone with rules of one kind, none of which an IANA zone has. */
const zoneOf = (rules: number, rule: string) => {
  const observances = Array.from({ length: rules }, (_, index) =>
    [
      'BEGIN:STANDARD',
      `DTSTART:${1970 + index}0101T000000`,
      'TZOFFSETFROM:+0017',
      'TZOFFSETTO:+0018',
      `RRULE:${rule}`,
      'END:STANDARD',
    ].join('\n'),
  )
  return `BEGIN:VTIMEZONE\nTZID:Made\n${observances.join('\n')}\nEND:VTIMEZONE`
}

test('odd files: lines, folds and long lines are read in pieces', async (t) => {
  for (const lines of ['\n'.repeat(100_000), `X-A:${'\n x'.repeat(100_000)}`, 'X-A:y\n'.repeat(100_000), '\r'.repeat(100_000)])
    t.true((await read(lines)).pauses >= 50)
  t.true((await read(`X-A:${'x'.repeat(10_000_000)}`)).pauses >= 10)
})

test('odd files: a long event is parsed in pieces, with all its properties', async (t) => {
  const days = Array.from({ length: 9_000 }, (_, index) => new Date(Date.UTC(2026, 0, 6 + index)).toISOString().slice(0, 10))
  const { sets, pauses } = await read(
    eventOf(`RRULE:FREQ=DAILY\n${days.map((day) => `EXDATE:${day.replaceAll('-', '')}T090000`).join('\n')}`),
  )
  t.is(sets[0]?.events[0]?.exdates.length, 9_000)
  t.true(pauses >= 18)
})

test('odd files: events are counted before the rest of the file is read', async (t) => {
  const lines = `${'BEGIN:VEVENT\n'.repeat(2_001)}END:VCALENDAR\nBEGIN:VCALENDAR`
  await t.throwsAsync(read(lines), { message: 'file must hold at most 2000 events' })
})

test('odd files: a zone whose clock would change every day is treated as not described', async (t) => {
  const event = eventOf('RRULE:FREQ=DAILY', 'DTSTART;TZID=Made:20260105T090000')
  const dense = 'FREQ=YEARLY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;BYDAY=MO,TU,WE,TH,FR,SA,SU'
  const { warnings } = await read(`${zoneOf(2, dense)}\n${event}`)
  t.regex(warnings[0]?.message ?? '', /which the file does not describe/)
})

test('odd files: the rules of a zone are computed one by one', async (t) => {
  const event = eventOf('SUMMARY:x', 'DTSTART;TZID=Made:20260105T090000')
  const { warnings, pauses } = await read(`${zoneOf(40, 'FREQ=YEARLY')}\n${event}`)
  t.regex(warnings[0]?.message ?? '', /which matches no IANA zone: its instant is kept/)
  t.true(pauses >= 40)
})
