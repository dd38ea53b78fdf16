import test from 'ava'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const weekly = { start: '2026-12-01T09:00:00Z', recurrence: 'RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=5', title: 'Weekly' }
const december = ['2026-12-01', '2027-01-31'] as const
const all = ['12-01', '12-08', '12-15', '12-22', '12-29'].map((day) => `Weekly 2026-${day}T09:00Z`)
const event = (id: string, query = '') => `/events/${id}${query}`
const on = (day: string) => `occurrence=${encodeURIComponent(`2026-${day}T09:00:00Z`)}`

test('series: a series is one event, listed as its occurrences', async (t) => {
  const w = await fresh()
  const made = await makeEvent(t, w, weekly)
  t.like(made, { recurrence: 'FREQ=WEEKLY;BYDAY=TU;COUNT=5', recurrence_text: 'every week on Tuesday for 5 times' })
  t.deepEqual(await occurrences(w, ...december), all)
  const { data } = await w.org.owner.get(at(w, '/events?from=2026-12-08&to=2026-12-08'))
  t.like(data.events[0], { event_id: made.id, series_id: made.id, recurring: true, details: true })
})

test('series: the start of a series is its first occurrence and counts, even if its rule does not match it', async (t) => {
  const w = await fresh()
  await makeEvent(t, w, { ...weekly, start: '2026-11-30T09:00:00Z', recurrence: 'FREQ=WEEKLY;BYDAY=TU;COUNT=3' })
  t.deepEqual(await occurrences(w, '2026-11-01', '2027-01-31'), [
    'Weekly 2026-11-30T09:00Z',
    'Weekly 2026-12-01T09:00Z',
    'Weekly 2026-12-08T09:00Z',
  ])
})

test('series: occurrences keep the local time of their zone', async (t) => {
  const w = await fresh()
  const start = '2026-10-06T09:00:00-07:00'
  await makeEvent(t, w, { title: 'V', start, timezone: 'America/Vancouver', recurrence: 'FREQ=MONTHLY;COUNT=3' })
  // Vancouver keeps summer time from 2026 on.
  t.deepEqual(await occurrences(w, '2026-10-01', '2026-12-31'), ['V 2026-10-06T16:00Z', 'V 2026-11-06T16:00Z', 'V 2026-12-06T16:00Z'])
  await makeEvent(t, w, { title: 'B', start: '2026-03-28T02:30:00+01:00', timezone: 'Europe/Berlin', recurrence: 'FREQ=DAILY;COUNT=3' })
  const days = ['B 2026-03-28T01:30Z', 'B 2026-03-30T00:30Z', 'B 2026-03-31T00:30Z']
  t.deepEqual(await occurrences(w, '2026-03-27', '2026-04-02'), days, 'a time that a clock change skips does not occur')
})

test('series: a changed occurrence is an event of its own', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, weekly)
  const changed = await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-08')}`)), {
    start: '2026-12-09T10:00:00Z',
    title: 'Moved',
  })
  t.like(changed.data, { series_id: series.id, original_start: '2026-12-08T09:00:00.000000Z', title: 'Moved', recurrence: '' })
  t.not(changed.data.id, series.id)
  t.deepEqual(await occurrences(w, ...december), [all[0], 'Moved 2026-12-09T10:00Z', ...all.slice(2)])
  const again = await w.org.owner.patch(at(w, event(series.id, `?scope=this&occurrence=2026-12-09T10:00:00Z`)), { title: 'Again' })
  t.is(again.data.id, changed.data.id, 'its present start is understood too')
  const direct = await w.org.owner.patch(at(w, event(changed.data.id)), { title: 'Direct' })
  t.like(direct.data, { id: changed.data.id, title: 'Direct' })
  t.is((await w.org.owner.patch(at(w, event(series.id, '?scope=this')), { title: 'A' })).status, 400)
  t.is((await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-09')}`)), { title: 'A' })).status, 400)
  t.is((await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-15')}`)), { recurrence: 'FREQ=DAILY' })).status, 400)
})

test('series: the deletion of one occurrence keeps the others', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, weekly)
  t.deepEqual((await w.org.owner.delete(at(w, event(series.id, `?scope=this&${on('12-15')}`)))).data, { deleted: true })
  t.deepEqual(await occurrences(w, ...december), [...all.slice(0, 2), ...all.slice(3)])
  t.is((await w.org.owner.delete(at(w, event(series.id, `?scope=this&${on('12-15')}`)))).status, 400)
})

test('series: the later part of a series becomes a series of its own, and every occurrence exists once', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, weekly)
  await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-22')}`)), { start: '2026-12-22T15:00:00Z' })
  const later = await w.org.owner.patch(at(w, event(series.id, `?scope=following&${on('12-15')}`)), { title: 'Later' })
  t.like(later.data, { title: 'Later', recurrence: 'FREQ=WEEKLY;BYDAY=TU;COUNT=3', start: '2026-12-15T09:00:00.000000Z' })
  t.is((await w.org.owner.get(at(w, event(series.id)))).data.recurrence, 'FREQ=WEEKLY;BYDAY=TU;COUNT=2')
  t.deepEqual(await occurrences(w, ...december), [
    ...all.slice(0, 2),
    'Later 2026-12-15T09:00Z',
    'Later 2026-12-22T15:00Z',
    'Later 2026-12-29T09:00Z',
  ])
  await w.org.owner.delete(at(w, event(later.data.id, `?scope=following&${on('12-29')}`)))
  t.is((await occurrences(w, ...december)).length, 4)
  await w.org.owner.delete(at(w, event(later.data.id)))
  t.deepEqual(await occurrences(w, ...december), all.slice(0, 2))
})

test('series: a series without an end is split right before the later part', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, { ...weekly, recurrence: 'FREQ=WEEKLY' })
  await w.org.owner.patch(at(w, event(series.id, `?scope=following&${on('12-15')}`)), { title: 'Later' })
  t.is((await w.org.owner.get(at(w, event(series.id)))).data.recurrence, 'FREQ=WEEKLY;UNTIL=20261215T085959Z')
  const dates = await makeEvent(t, w, { title: 'D', start: '2026-12-01', recurrence: 'FREQ=DAILY' })
  await w.org.owner.patch(at(w, event(dates.id, '?scope=following&occurrence=2026-12-04')), { title: 'E' })
  t.is((await w.org.owner.get(at(w, event(dates.id)))).data.recurrence, 'FREQ=DAILY;UNTIL=20261203')
})

test('series: the exceptions of a series move with it', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, weekly)
  await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-08')}`)), { start: '2026-12-08T11:00:00Z' })
  await w.org.owner.delete(at(w, event(series.id, `?scope=this&${on('12-22')}`)))
  await w.org.owner.patch(at(w, event(series.id)), { start: '2026-12-02T10:00:00Z' })
  const moved = ['12-02T10', '12-09T12', '12-16T10', '12-30T10'].map((when) => `Weekly 2026-${when}:00Z`)
  t.deepEqual(await occurrences(w, ...december), moved)
  t.is((await w.org.owner.get(at(w, event(series.id)))).data.recurrence, 'FREQ=WEEKLY;BYDAY=WE;COUNT=5')
})

test('series: a change of a series applies to its exceptions, except for their own values', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, { ...weekly, location: 'Here' })
  await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-08')}`)), { title: 'Own' })
  await w.org.owner.patch(at(w, event(series.id)), { title: 'New', location: 'There' })
  const { data } = await w.org.owner.get(at(w, '/events?from=2026-12-08&to=2026-12-08'))
  t.like((await w.org.owner.get(at(w, event(data.events[0].event_id)))).data, { title: 'Own', location: 'There' })
})

test('series: a new rule removes exceptions that it does not match', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, weekly)
  for (const day of ['12-08', '12-15']) await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on(day)}`)), { title: day })
  await w.org.owner.patch(at(w, event(series.id)), { recurrence: 'FREQ=WEEKLY;INTERVAL=2;COUNT=3' })
  t.deepEqual(await occurrences(w, ...december), ['Weekly 2026-12-01T09:00Z', '12-15 2026-12-15T09:00Z', 'Weekly 2026-12-29T09:00Z'])
  const single = await w.org.owner.patch(at(w, event(series.id)), { recurrence: null })
  t.is(single.data.recurrence, '')
  t.deepEqual(await occurrences(w, ...december), ['Weekly 2026-12-01T09:00Z'])
})

test('series: at most 2,000 occurrences are listed', async (t) => {
  const w = await fresh()
  const hours = Array.from({ length: 24 }, (_, hour) => hour).join()
  await makeEvent(t, w, { title: 'A', start: '2026-01-01T00:00:00Z', recurrence: `FREQ=DAILY;BYHOUR=${hours}` })
  t.is((await occurrences(w, '2026-01-01', '2026-12-31')).length, 2_000)
})

test('series: in a calendar without overlaps, a series does not conflict with itself', async (t) => {
  const w = await fresh()
  const { owner } = w.org
  const { id: calendar_id } = await makeCalendar(t, w, { settings: { no_overlap: true } })
  const { id } = await makeEvent(t, w, { ...weekly, calendar_id })
  const path = (query = '') => at(w, event(id, query))
  t.is((await owner.patch(path(`?scope=this&${on('12-08')}`), { start: '2026-12-08T09:30:00Z' })).status, 200, 'half an hour later')
  t.is((await owner.patch(path(`?scope=this&${on('12-08')}`), { start: '2026-12-08T09:45:00Z' })).status, 200, 'and again')
  t.is((await owner.delete(path(`?scope=this&${on('12-15')}`))).status, 200)
  await makeEvent(t, w, { title: 'Other', calendar_id, start: '2026-12-15T09:00:00Z' })
  t.is((await owner.patch(path(`?scope=following&${on('12-22')}`), { title: 'Later' })).status, 200, 'what was deleted takes no time')
  t.is((await owner.patch(path(`?scope=this&${on('12-08')}`), { start: '2026-12-15T09:30:00Z' })).status, 409)
})

test('series: the later part of a series moves to another calendar without the earlier part', async (t) => {
  const w = await fresh()
  const { id: other } = await makeCalendar(t, w, {})
  const { id } = await makeEvent(t, w, weekly)
  await w.org.owner.patch(at(w, event(id, `?scope=this&${on('12-08')}`)), { title: 'Own' })
  const later = await w.org.owner.patch(at(w, event(id, `?scope=following&${on('12-22')}`)), { calendar_id: other })
  t.like(later.data, { calendar_id: other })
  const seen = (calendars: string) => occurrences(w, ...december, w.org.owner, `&calendars=${calendars}`)
  t.deepEqual(await seen(other), all.slice(3))
  t.deepEqual(await seen((await w.org.owner.get(at(w, event(id)))).data.calendar_id), [all[0], 'Own 2026-12-08T09:00Z', all[2]])
})

test('series: an occurrence that became all-day stays so if its series is renamed, moved or split', async (t) => {
  const w = await fresh()
  const series = await makeEvent(t, w, { ...weekly, timezone: 'America/New_York' })
  await w.org.owner.patch(at(w, event(series.id, `?scope=this&${on('12-15')}`)), { start: '2026-12-16', all_day: true })
  const days = async () => (await occurrences(w, ...december)).filter((line) => / \d{4}-\d\d-\d\d$/.test(line))
  t.is((await w.org.owner.patch(at(w, event(series.id)), { title: 'All' })).status, 200)
  t.deepEqual(await days(), ['All 2026-12-16'])
  t.is((await w.org.owner.patch(at(w, event(series.id)), { start: '2026-12-01T08:00:00Z' })).status, 200)
  t.deepEqual(await days(), ['All 2026-12-16'])
  t.is((await w.org.owner.patch(at(w, event(series.id)), { start: '2026-12-02T08:00:00Z' })).status, 200)
  t.deepEqual(await days(), ['All 2026-12-17'])
  const later = await w.org.owner.patch(at(w, event(series.id, '?scope=following&occurrence=2026-12-09T08:00:00Z')), { title: 'Cut' })
  t.is(later.status, 200, later.text)
  t.deepEqual(await days(), ['Cut 2026-12-17'])
})

test('series: reminders and the link to a record of a series apply to its exceptions, except for their own', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const records = await Promise.all([1, 2].map(async () => (await owner.post(`${path}/records/invoices`, { values: {} })).data.id))
  const link = (index: number) => ({ record_type: 'invoices', record_id: records[index] })
  const series = await makeEvent(t, w, { ...weekly, reminders: [10], color: '#ff0000' })
  const change = async (day: string, body: object) =>
    (await owner.patch(at(w, event(series.id, `?scope=this&${on(day)}`)), body)).data.id as string
  const [inherits, own] = [await change('12-08', { title: 'Inherits' }), await change('12-15', { reminders: [5], ...link(0) })]
  t.is((await owner.patch(at(w, event(series.id)), { reminders: [30], color: '#0000ff', ...link(1) })).status, 200)
  t.like((await owner.get(at(w, event(inherits)))).data, { title: 'Inherits', color: '#0000ff', reminders: [30], ...link(1) })
  t.like((await owner.get(at(w, event(own)))).data, { color: '#0000ff', reminders: [5], ...link(0) })
  t.is((await owner.patch(at(w, event(series.id)), { record_type: null, record_id: null })).status, 200)
  t.like((await owner.get(at(w, event(inherits)))).data, { record_type: null, record_id: null })
  t.like((await owner.get(at(w, event(own)))).data, link(0))
})

test('series: a series that skips weeks moves evenly across the border of a week', async (t) => {
  const w = await fresh()
  const days = async (id: string) =>
    (await w.org.owner.get(at(w, '/events?from=2026-12-01&to=2027-03-31'))).data.events
      .filter(({ event_id }: { event_id: string }) => event_id === id)
      .map(({ start }: { start: string }) => start.slice(5, 10))
  const rule = 'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU'
  for (const end of ['COUNT=6', 'UNTIL=20270119T090000Z']) {
    const { id } = await makeEvent(t, w, { start: '2026-12-13T09:00:00Z', recurrence: `${rule};${end}` })
    t.deepEqual(await days(id), ['12-13', '12-22', '12-27', '01-05', '01-10', '01-19'], end)
    const moved = await w.org.owner.patch(at(w, event(id)), { start: '2026-12-14T09:00:00Z' })
    t.regex(moved.data.recurrence, /^FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;.*WKST=TU$/)
    t.deepEqual(await days(id), ['12-14', '12-23', '12-28', '01-06', '01-11', '01-20'], end)
    await w.org.owner.patch(at(w, event(id)), { start: '2026-12-12T09:00:00Z' })
    t.deepEqual(await days(id), ['12-12', '12-21', '12-26', '01-04', '01-09', '01-18'], end)
  }
})

test('series: ids in capitals are those of the same calendar and record, and an occurrence of an all-day series is a date', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const { id: record } = (await owner.post(`${path}/records/invoices`, { values: {} })).data
  const link = { record_type: 'invoices', record_id: record.toUpperCase() }
  const series = await makeEvent(t, w, { start: '2026-12-01', recurrence: 'FREQ=DAILY;COUNT=5', ...link })
  t.is(series.record_id, record)
  const change = (occurrence: string, body: object) => owner.patch(at(w, event(series.id, `?scope=this&occurrence=${occurrence}`)), body)
  t.is((await change('2026-12-02', { calendar_id: series.calendar_id.toUpperCase(), title: 'A' })).status, 200)
  t.is((await change('2026-12-03Tgarbage', { title: 'B' })).status, 400)
  t.is((await change('2026-12-03T00:00:00Z', { title: 'C' })).status, 200)
})

test('series: the refusal of an overlap names the start of the other event', async (t) => {
  const w = await fresh()
  const { id: calendar_id } = await makeCalendar(t, w, { settings: { no_overlap: true } })
  await makeEvent(t, w, { calendar_id, start: '2026-12-04T09:00:00Z' })
  for (const start of ['2026-12-04T08:30:00Z', '2026-12-04T09:30:00Z', '2026-12-03T09:30:00Z']) {
    const sent = { title: 'B', calendar_id, start, recurrence: 'FREQ=DAILY;COUNT=2' }
    const { status, body } = await w.org.owner.post(at(w, '/events'), sent)
    t.like({ status, ...body.error }, { status: 409, message: 'The calendar has another event at 2026-12-04T09:00:00.000000Z' }, start)
  }
})
