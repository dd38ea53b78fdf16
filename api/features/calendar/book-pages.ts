import {
  type BookingChoice,
  type ChoiceQuery,
  choiceQuery,
  linkToStep,
  neighbouringMonth,
  readChoice,
  timeWindowOfMonth,
} from '#api/features/calendar/book-choice.ts'
import { bookerFields, timeField, zoneField } from '#api/features/calendar/book-fields.ts'
import { durationInWords, groupByDay, type MonthView, monthView } from '#api/features/calendar/book-month.ts'
import * as examples from '#api/features/calendar/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { page } from '#api/http/route.ts'
import { type Field, renderFields, withErrors } from '#api/pages/fields/field.ts'
import { attemptField, failedField, fieldErrors, readAttempt } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { bookSlot, findFirstAnswer } from '#shared/features/calendar/booking/book.ts'
import { type Booked, bookingInput } from '#shared/features/calendar/booking/schemas.ts'
import { listSlotStarts, type OpenBookingPage, requireBookingPage } from '#shared/features/calendar/booking/slots.ts'
import { rsvpFileUrl, rsvpPageUrl } from '#shared/features/calendar/guests/guests.ts'
import { instantMs, instantText, type TimeWindow } from '#shared/features/calendar/time.ts'
import { eventTimeInWords } from '#shared/features/calendar/time-in-words.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'

/** The booking page that the path names, as the caller may see it. */
export async function onBookingPage({ params }: { params: { calendarKey: string } }, scope: Scope) {
  const resource = await requireBookingPage(scope, params.calendarKey)
  return { key: resource.calendar.key, resource }
}

const common = {
  tag: 'Pages',
  app: 'calendar',
  permission: 'public',
  limit: 'calendar',
  framed: 'any',
  path: '/book/:orgId/:calendarKey',
  query: choiceQuery,
  on: onBookingPage,
} as const

interface Choosing {
  readonly notice: string
  readonly description: string
  readonly location: string
  readonly lengths: readonly { readonly words: string; readonly link: string; readonly isChosen: boolean }[]
  readonly month: MonthView
  readonly isDayChosen: boolean
  readonly weekdays: readonly (readonly [string, string])[]
  readonly zone: string
  readonly zoneWords: string
  /** Query parameters that stay when the time zone is changed: names and values. */
  readonly kept: readonly (readonly [string, string])[]
}
const renderChoice = template<Choosing>(new URL('book.eta', import.meta.url))

interface Details {
  readonly when: string
  readonly length: string
  readonly location: string
  readonly back: string
  readonly failure: string
  readonly id: string
  readonly duration: number
  readonly start: string
  /** Whether the form asks for another time, and whether it has one to offer. */
  readonly isTimeOpen: boolean
  readonly hasTimes: boolean
  readonly fields: string
}
const renderDetails = template<Details>(new URL('book-details.eta', import.meta.url))
const renderBooked = template<Readonly<Record<'when' | 'location' | 'page' | 'file', string>>>(new URL('booked.eta', import.meta.url))

const bookForm = schema(
  t.Object({
    start: t.String(),
    name: t.String(),
    email: t.String(),
    notes: t.Optional(t.String()),
    duration: t.Optional(t.String()),
    id: t.String({ description: 'The id in the page. The same id books only once.' }),
  }),
)

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'].map(
  (name) => [name.slice(0, 2), name] as const,
)

async function slotsIn(scope: Scope, open: OpenBookingPage, window: TimeWindow, minutes: number): Promise<number[]> {
  if (window.to <= window.from) return []
  const starts = await listSlotStarts(scope, open, window, minutes)
  return starts.filter(({ reason }) => reason === undefined).map(({ at }) => at)
}

const pageOf = (scope: Scope, { calendar, page: settings }: OpenBookingPage, zone: string) => ({
  title: settings.title || calendar.name,
  brand: scope.workspace,
  isWide: true,
  script: 'swap.js' as const,
  zone,
})

/** The page that shows a month with its free days, and the times of a day. */
async function choosingPage(scope: Scope, open: OpenBookingPage, requested: BookingChoice, notice: string): Promise<Page> {
  const { page: settings } = open
  const { choice, days } = await monthWithFreeDays(scope, open, requested)
  const { minutes, zone, month, day } = choice
  const step = day === undefined ? { month } : { day }
  return {
    ...pageOf(scope, open, zone),
    body: renderChoice({
      notice,
      description: settings.description,
      location: settings.location,
      weekdays,
      lengths: settings.durations.map((length) => ({
        words: durationInWords(length),
        link: linkToStep({ ...choice, minutes: length }, settings, step),
        isChosen: length === minutes,
      })),
      month: monthView(choice, settings, days),
      isDayChosen: day !== undefined,
      zone: renderFields([zoneField(zone, open.calendar.timezone)]).text,
      zoneWords: zone.replaceAll('_', ' '),
      kept: Object.entries({ ...step, ...(settings.durations.length > 1 ? { duration: String(minutes) } : {}) }),
    }),
  }
}

/** The chosen month and its free days. A default month without free days is replaced by the next one. */
async function monthWithFreeDays(scope: Scope, open: OpenBookingPage, requested: BookingChoice) {
  const now = scope.now().getTime()
  const daysOf = async (choice: BookingChoice) =>
    groupByDay(await slotsIn(scope, open, timeWindowOfMonth(choice, now), choice.minutes), choice.zone)
  const days = await daysOf(requested)
  const later = { ...requested, month: neighbouringMonth(requested.month, 1) }
  if (requested.isMonthChosen || days.size > 0 || later.month > requested.months[1]) return { choice: requested, days }
  return { choice: later, days: await daysOf(later) }
}

interface Sent {
  readonly fields: URLSearchParams
  readonly failure: Problem
}

/** The form for name and email. Shown again, it keeps the sent values, and offers other times if the time was the problem. */
async function detailsPage(scope: Scope, open: OpenBookingPage, choice: BookingChoice, sent?: Sent): Promise<Page> {
  const { page: settings } = open
  const { zone, minutes, start } = choice
  const person = bookerFields(sent?.fields)
  const isTimeOpen = sent !== undefined && !failedField(person, sent.failure)
  const others = isTimeOpen ? await nearestFreeTimes(scope, open, choice) : []
  const fields: Field[] = [...(others.length > 0 ? [timeField(others, zone)] : []), ...person]
  const errors = isTimeOpen && others.length === 0 ? {} : fieldErrors(fields, sent?.failure)
  const back = choice.day === undefined ? { month: choice.month } : { day: choice.day }
  const isShown = start !== undefined && !isTimeOpen
  return {
    ...pageOf(scope, open, zone),
    body: renderDetails({
      when: isShown ? eventTimeInWords({ allDay: false, start, end: start + minutes * minuteMs, zone }) : '',
      length: durationInWords(minutes),
      location: settings.location,
      back: linkToStep(choice, settings, back),
      failure: sent?.failure.message ?? '',
      isTimeOpen,
      hasTimes: others.length > 0,
      id: sent?.fields.get(attemptField) || newId(),
      duration: minutes,
      start: isShown ? instantText(start) : '',
      fields: renderFields(withErrors(fields, errors)).text,
    }),
    ...(sent ? { failure: sent.failure } : {}),
  }
}

/** Maximum number of times offered instead of one that cannot be booked. */
const maxOfferedTimes = 12

/** The free times of the chosen day that are nearest to the chosen time, in order. A day without free times is replaced by the first with any. */
async function nearestFreeTimes(scope: Scope, open: OpenBookingPage, choice: BookingChoice): Promise<readonly number[]> {
  const { days } = await monthWithFreeDays(scope, open, choice)
  const ofDay = (choice.day === undefined ? undefined : days.get(choice.day)) ?? days.values().next().value ?? []
  const { start } = choice
  if (start === undefined) return ofDay.slice(0, maxOfferedTimes)
  const nearest = ofDay.toSorted((a, b) => Math.abs(a - start) - Math.abs(b - start))
  return nearest.slice(0, maxOfferedTimes).sort((a, b) => a - b)
}

async function show(scope: Scope, open: OpenBookingPage, query: ChoiceQuery): Promise<Page> {
  const choice = readChoice(query, open.page, open.calendar.timezone, scope.now().getTime())
  if (choice.start === undefined) return choosingPage(scope, open, choice, '')
  const [free] = await slotsIn(scope, open, { from: choice.start, to: choice.start + 1 }, choice.minutes)
  if (free !== undefined) return detailsPage(scope, open, choice)
  return choosingPage(scope, open, choice, 'This time is no longer free. Please choose another one.')
}

const textIn = (sent: URLSearchParams, name: string): string => (sent.get(name) ?? '').trim()

/** Books what a visitor has sent. Throws VALIDATION_ERROR that names the control, SLOT_TAKEN for a time that is taken. */
async function book(scope: Scope, open: OpenBookingPage, sent: URLSearchParams, key: string | undefined): Promise<Booked> {
  const [start, name, email, notes, duration] = ['start', 'name', 'email', 'notes', 'duration'].map((control) => textIn(sent, control))
  if (instantMs(start ?? '') === undefined) throw problem('VALIDATION_ERROR', 'Please choose a time')
  const input = bookingInput.parse({ start, name, email, notes, ...(duration ? { duration: Number(duration) } : {}) })
  return bookSlot(scope, open, input, { key, isExact: false })
}

/** Books a time, or shows the form again with the failure. A hidden id that has booked gets the first answer, whatever else is sent. */
async function send(scope: Scope, open: OpenBookingPage, query: ChoiceQuery, sent: URLSearchParams): Promise<Page> {
  const [start, duration] = [textIn(sent, 'start'), textIn(sent, 'duration')]
  const choice = readChoice(
    { ...query, ...(start ? { start } : {}), ...(duration ? { duration } : {}) },
    open.page,
    open.calendar.timezone,
    scope.now().getTime(),
  )
  try {
    const key = readAttempt(sent)
    const done = (key === undefined ? undefined : await findFirstAnswer(scope, open, key)) ?? (await book(scope, open, sent, key))
    const when = eventTimeInWords({ allDay: false, start: Date.parse(done.start), end: Date.parse(done.end), zone: choice.zone })
    return {
      title: open.page.title || open.calendar.name,
      brand: scope.workspace,
      body: renderBooked({
        when,
        location: open.page.location,
        page: rsvpPageUrl(scope, done.token),
        file: rsvpFileUrl(scope, done.token),
      }),
    }
  } catch (failure) {
    if (!(failure instanceof Problem) || failure.status >= 500) throw failure
    return detailsPage(scope, open, choice, { fields: sent, failure })
  }
}

/** The hosted page of a calendar (docs/contract/public.md#booking-page): a month, the times of a day, then name and email. */
export const routes = [
  page({
    ...common,
    method: 'GET',
    summary: 'The page where a visitor books a time',
    description: 'Any website may frame it. `tz` shows another zone. Each step has its own URL.',
    example: { params: { calendarKey: 'tastings' }, query: { month: '2026-12' }, file: 'Coffee tasting' },
    handle: ({ resource, query }, scope) => show(scope, resource, query),
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Book a time by its page',
    description: 'Works without scripts. Sending the same hidden id again gets the first answer, even with other values.',
    example: { params: { calendarKey: 'tastings' }, body: { ...examples.visitor, id: ids.booking }, file: 'Coffee tasting' },
    form: bookForm,
    fails: ['SLOT_TAKEN'],
    handle: ({ resource, query, body: sent }, scope) => send(scope, resource, query, sent),
  }),
]
