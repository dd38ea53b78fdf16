import { type EventTime, eventTimeColumns, timeText } from '#shared/features/calendar/event-time.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { writeIcs } from '#shared/features/calendar/ics/write-file.ts'
import { listOccurrencesIn } from '#shared/features/calendar/series/occurrences.ts'
import { dateMs, startOfDay } from '#shared/features/calendar/time.ts'
import { eventTimeInWords } from '#shared/features/calendar/time-in-words.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

// Prints all-day events as in answers, calendar files and text. zones.test.ts runs it in processes of several time zones.

/** Zones with days that are short, long or missing. */
const days: readonly (readonly [zone: string, date: string])[] = [
  ['Pacific/Kiritimati', '2026-12-28'],
  ['Pacific/Apia', '2011-12-30'],
  ['America/Santiago', '2026-09-06'],
  ['America/Los_Angeles', '2026-11-01'],
  ['Asia/Kathmandu', '2026-12-29'],
  ['UTC', '2026-02-28'],
]

const now = new Date('2026-11-25T08:00:00Z')
const at = now.toISOString()
const asked = days.flatMap(([zone, date]) =>
  [null, 'FREQ=DAILY;COUNT=3'].map(async (recurrence) => {
    const when: EventTime = { allDay: true, start: dateMs(date), end: dateMs(date) + dayMs, zone }
    const event: EventRow = {
      id: '0',
      calendar_id: '1',
      uid: 'u',
      series_id: null,
      original_start: null,
      original_date: null,
      is_removed: false,
      title: 'Day',
      description: '',
      location: '',
      color: '',
      status: 'confirmed',
      visibility: 'default',
      is_free: false,
      recurrence,
      rdates: [],
      exdates: [],
      reminders: null,
      source: 'manual',
      sequence: 0,
      organizer: null,
      record_type: null,
      record_id: null,
      deduplication_key: null,
      created_by: null,
      timed_at: at,
      created_at: at,
      updated_at: at,
      ...eventTimeColumns(when),
    }
    const byDays = { from: dateMs(date), to: dateMs(date) + 5 * dayMs }
    const window = { from: startOfDay(date, zone), to: byDays.to + 2 * dayMs, days: byDays }
    const budget = computeBudget('w', { steps: 10_000, bound: 'few steps' })
    const happens = await listOccurrencesIn([event], window, () => zone, budget, 10)
    const shown = happens.map((one) => [timeText(one.when.start, true), timeText(one.when.end, true)])
    const lines = writeIcs({ events: [{ event, access: 'details' }], now }).match(/^DT(?:START|END).*/gm)
    return { zone, shown, lines: lines?.map((line) => line.trim()), words: eventTimeInWords(when) }
  }),
)
console.log(JSON.stringify(await Promise.all(asked)))
