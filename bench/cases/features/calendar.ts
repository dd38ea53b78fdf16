import type { Bench, Case, Group, Timed } from '#bench/case.ts'
import { booking, dayOf, slotsPath } from '#bench/cases/booking.ts'
import { type Send, sender } from '#bench/client.ts'
import { load, type Shot, sideOf } from '#bench/load.ts'
import { withClient } from '#bench/servers/connection.ts'
import { fromAnywhere, startProxiedApi } from '#bench/servers/proxied-api.ts'
import { startWorker } from '#bench/servers/worker.ts'

/** Events of the calendar that is listed and booked, how many of them repeat, and events of the calendar that is subscribed to. */
const [listed, repeating, subscribed] = [2_000, 50, 10_000]
/** Maximum events of a file (docs/contract/calendar.md#import). */
const imported = 2_000

/** A full calendar: listing, booking, its feed, and imports. */
export const calendar: Group = {
  name: 'calendar',
  cases: async (bench) => {
    await startWorker(bench, 'data')
    const api = await startProxiedApi(bench)
    const send = sender(api.url, bench.loaded)
    const path = `/v1/orgs/${bench.loaded.workspaceId}/calendar`
    const full = await makeCalendar(bench, send, { events: listed, days: 30, series: repeating })
    const long = await makeCalendar(bench, send, { events: subscribed, days: 1_000, series: 0 })
    const { feed_url } = await send<{ feed_url: string }>('POST', `/calendar/calendars/${long.id}/feed`, { enabled: true })
    const feed = new URL(feed_url).pathname
    const get = (make: Shot['make']) => (): Promise<Timed> =>
      load({ url: api.url, connections: 1, seconds: bench.seconds }, { method: 'GET', make, token: bench.loaded.token })
    const slots = slotsPath(bench.loaded.workspaceId, full.key)
    const cases: Case[] = [
      {
        name: 'a month of 2,000 events and 50 series',
        unit: 'requests/s',
        kontor: get(() => ({ path: `${path}/events?from=${dayOf(0)}&to=${dayOf(30)}&calendars=${full.id}` })),
        aims: { p50AtMostMs: 30 },
      },
      {
        name: 'slots of 60 days among them, p95',
        unit: 'ms',
        kontor: async () => {
          const side = await get((index) => ({ path: slots, headers: fromAnywhere(index) }))()
          return { ...side, amount: side.p95Ms }
        },
        aims: { amountAtMost: 150 },
      },
      {
        name: 'feed of 10,000 events, after a change',
        unit: 'ms',
        kontor: async () => {
          await send('PATCH', `/calendar/calendars/${long.id}`, { description: crypto.randomUUID() })
          const { ms } = await ask(api.url, feed, 200)
          return { amount: ms }
        },
        aims: { amountAtMost: 1_000 },
      },
      {
        name: 'the same, kept',
        unit: 'requests/s',
        kontor: get((index) => ({ path: feed, headers: fromAnywhere(index) })),
      },
      {
        name: 'the same, not changed',
        unit: 'requests/s',
        kontor: async () => {
          const { etag } = await ask(api.url, feed, 200)
          const [times, began] = [[] as number[], performance.now()]
          while (performance.now() - began < bench.seconds * 1_000)
            times.push((await ask(api.url, feed, 304, { ...fromAnywhere(times.length), 'if-none-match': etag })).ms)
          return sideOf(times, (performance.now() - began) / 1_000)
        },
      },
      {
        name: 'import, 2,000 events',
        unit: 'ms',
        kontor: async () => {
          const { id } = await send('POST', '/calendar/calendars', { kind: 'org', name: 'Import', key: `i-${crypto.randomUUID()}` })
          const shot = {
            method: 'POST',
            contentType: 'text/calendar',
            make: () => ({ path: `${path}/calendars/${id}/import`, body: file() }),
          } as const
          const side = await load({ url: api.url, connections: 1, requests: 1 }, { ...shot, token: bench.loaded.token })
          return { amount: side.p50Ms }
        },
        aims: { amountAtMost: 5_000 },
      },
    ]
    return cases
  },
}

/** Sends a visitor's request and returns its time until the last byte. */
async function ask(url: string, path: string, status: number, headers: Readonly<Record<string, string>> = fromAnywhere(Date.now())) {
  const began = performance.now()
  // A manual revalidation must bypass fetch's own cache.
  const answer = await fetch(url + path, { headers: { ...headers, 'cache-control': 'max-age=0' } })
  await answer.arrayBuffer()
  if (answer.status !== status) throw new Error(`GET ${path} answered ${answer.status}`)
  return { ms: performance.now() - began, etag: answer.headers.get('etag') ?? '' }
}

interface Filling {
  readonly events: number
  /** Period from now on in which the events begin, in days. */
  readonly days: number
  readonly series: number
}

/** A calendar with a public page and half-hour events, made by one statement; series repeat three times a week without end. */
async function makeCalendar({ databaseUrl, loaded }: Bench, send: Send, { events, days, series }: Filling) {
  const made = { kind: 'org', name: 'Bench', key: `b-${crypto.randomUUID()}`, timezone: 'Europe/Berlin', settings: { booking } }
  const { id, key } = await send<{ id: string; key: string }>('POST', '/calendar/calendars', made)
  await withClient(databaseUrl, async (db) => {
    await db.query(
      `insert into calendar_events (workspace_id, id, calendar_id, uid, title, description, start_at, end_at, timezone, wall_start, zone_release,
         recurrence, extent, timed_at)
       select $1, id, $2, id || '@kontor', 'Event ' || number, repeat('What was said on the phone. ', 4), starts, starts + interval '30 minutes',
         'Europe/Berlin', starts at time zone 'Europe/Berlin', $6, rule,
         tstzrange(starts, case when rule is null then starts + interval '30 minutes' end), now()
       from (
         select uuidv7() as id, number, date_trunc('minute', now()) + number * interval '1 day' * $4::float8 / $3 as starts,
           case when number <= $5 then 'FREQ=WEEKLY;BYDAY=MO,WE,FR' end as rule
         from generate_series(1, $3::integer) as number
       ) as event`,
      [loaded.workspaceId, id, events, days, series, process.versions.tz],
    )
    await db.query('vacuum analyze calendar_events')
  })
  return { id, key }
}

/** A file of new events, some of them repeating. */
function file(): string {
  const events = Array.from({ length: imported }, (_, index) => {
    const start = new Date(Date.now() + index * 3_600_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
    return [
      ...['BEGIN:VEVENT', `UID:${crypto.randomUUID()}`, `DTSTART;TZID=Europe/Berlin:${start}`, 'DURATION:PT30M', `SUMMARY:Event ${index}`],
      ...(index % 40 === 0 ? ['RRULE:FREQ=WEEKLY;COUNT=20'] : []),
      'END:VEVENT',
    ].join('\r\n')
  })
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Bench//EN', ...events, 'END:VCALENDAR', ''].join('\r\n')
}
