import { bookControls, chooserOf } from '#api/calendar/book-controls.ts'
import { page } from '#api/http/route.ts'
import { drawFields, withErrors } from '#api/pages/field.ts'
import { fieldErrors } from '#api/pages/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { book } from '#shared/calendar/booking/book.ts'
import { bookInput } from '#shared/calendar/booking/schemas.ts'
import { requirePage, startsOfPage } from '#shared/calendar/booking/slots.ts'
import { dateMs, dateText, dayMs, startOfDay, wallMs } from '#shared/calendar/time.ts'
import { whenWords } from '#shared/calendar/words.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { isDay } from '#shared/kernel/instant.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { isTimeZone } from '#shared/kernel/time-zone.ts'
import type { Scope } from '#shared/scope/scope.ts'

const common = {
  tag: 'Pages',
  app: 'calendar',
  permission: 'public',
  limit: 'calendar',
  framed: 'any',
  path: '/book/:orgId/:calendarKey',
} as const

interface Shown {
  readonly description: string
  readonly location: string
  readonly choose: string
  readonly failure: string
  /** Addresses of the days before and after; empty where there are none. */
  readonly earlier: string
  readonly later: string
  readonly hasSlots: boolean
  readonly id: string
  readonly duration: number
  readonly fields: string
}
const body = template<Shown>(new URL('book.eta', import.meta.url))
const booked = template<{ readonly when: string; readonly location: string; readonly page: string }>(new URL('booked.eta', import.meta.url))

const choice = schema(
  t.Object({
    tz: t.Optional(t.String({ description: 'The time zone in which times are shown.' })),
    duration: t.Optional(t.String()),
    from: t.Optional(t.String({ description: 'The first day that is shown, YYYY-MM-DD.' })),
  }),
)
const bookForm = schema(
  t.Object({
    ...{ start: t.String(), name: t.String(), email: t.String(), notes: t.Optional(t.String()), duration: t.Optional(t.String()) },
    id: t.String({ description: 'As the page has it: the same again books once.' }),
  }),
)

/** Days that a page shows at once. */
const shownDays = 7

interface Asked {
  readonly tz: string | undefined
  readonly duration: string | undefined
  readonly from: string | undefined
  readonly sent?: URLSearchParams
  readonly failure?: Problem
}

async function bookPage(scope: Scope, key: string, { tz, duration, from, sent, failure }: Asked): Promise<Page> {
  const open = await requirePage(scope, key)
  const { calendar, page } = open
  const zone = tz !== undefined && isTimeZone(tz) ? tz : calendar.timezone
  const minutes = page.durations.includes(Number(duration)) ? Number(duration) : (page.durations[0] ?? 30)
  const today = dateText(wallMs(scope.now().getTime(), zone))
  const first = from !== undefined && isDay(from) && from > today ? from : today
  const begin = startOfDay(first, zone)
  const starts = await startsOfPage(scope, open, { from: begin, to: begin + shownDays * dayMs }, minutes)
  const slots = starts.filter(({ reason }) => reason === undefined).map(({ at }) => at)
  const chosen = { from: first, minutes, zone }
  const fields = bookControls(slots, chosen, sent)
  const next = dayAfter(first, shownDays)
  const link = (day: string) => `?${new URLSearchParams({ from: day, duration: String(minutes), tz: zone })}`
  return {
    title: page.title || calendar.name,
    brand: scope.workspace,
    body: body({
      ...{ description: page.description, location: page.location, hasSlots: slots.length > 0, duration: minutes },
      choose: drawFields(chooserOf(chosen, page.durations)).text,
      failure: failure?.message ?? '',
      earlier: first > today ? link(laterOf(dayAfter(first, -shownDays), today)) : '',
      later: next <= dayAfter(today, page.horizonDays) ? link(next) : '',
      id: sent?.get('id') || newId(),
      fields: drawFields(failure ? withErrors(fields, fieldErrors(fields, failure)) : fields).text,
    }),
    ...(failure ? { failure } : {}),
  }
}

const dayAfter = (day: string, days: number): string => dateText(dateMs(day) + days * dayMs)
const laterOf = (one: string, other: string): string => (one > other ? one : other)

/** The hosted page of a calendar (document 3, Booking page; decisions, Hosted pages). */
export const routes = [
  page({
    ...common,
    method: 'GET',
    summary: 'The page where a visitor books a time',
    description: 'Any website may frame it. `tz` shows another zone.',
    query: choice,
    handle: ({ params, query }, scope) => bookPage(scope, params.calendarKey, { tz: query.tz, duration: query.duration, from: query.from }),
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Book a time by its page',
    description: 'Works without scripts. The hidden id of the page sent again gets the first answer.',
    query: choice,
    form: bookForm,
    fails: ['SLOT_TAKEN'],
    handle: async ({ params, query, body: sent }, scope) => {
      const open = await requirePage(scope, params.calendarKey)
      try {
        const duration = sent.get('duration')
        const text = (name: string) => (sent.get(name) ?? '').trim()
        const input = { start: text('start'), name: text('name'), email: text('email'), notes: text('notes') }
        if (input.start === '') throw problem('VALIDATION_ERROR', 'Please choose a time')
        const asked = bookInput.parse({ ...input, ...(duration ? { duration: Number(duration) } : {}) })
        const done = await book(scope, params.calendarKey, asked, sent.get('id')?.slice(0, 255) || undefined)
        const zone = query.tz !== undefined && isTimeZone(query.tz) ? query.tz : open.calendar.timezone
        const when = whenWords({ allDay: false, start: Date.parse(done.start), end: Date.parse(done.end), zone })
        const page = `${scope.config.publicUrl}/rsvp/${scope.workspace.id}/${done.token}`
        return {
          title: open.page.title || open.calendar.name,
          brand: scope.workspace,
          body: booked({ when, location: open.page.location, page }),
        }
      } catch (failure) {
        if (!(failure instanceof Problem) || failure.status >= 500) throw failure
        return bookPage(scope, params.calendarKey, {
          tz: query.tz,
          duration: sent.get('duration') ?? undefined,
          from: query.from,
          sent,
          failure,
        })
      }
    },
  }),
]
