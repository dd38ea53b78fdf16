import { accessCalendars, accessTo, atLeast } from '#shared/calendar/access.ts'
import { questionBudget } from '#shared/calendar/budget.ts'
import { type Busy, busyElsewhere, busyOnCalendars, merged } from '#shared/calendar/busy.ts'
import { type Calendar, listOwnedCalendars } from '#shared/calendar/calendars-store.ts'
import { recordsBusy } from '#shared/calendar/record-occurrences.ts'
import { instantText, readWindow, type Window } from '#shared/calendar/time.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import type { Scope } from '#shared/scope/scope.ts'

const busy = t.Object(
  {
    id: t.String(),
    busy: t.Array(t.Object({ start: t.String({ format: 'date-time' }), end: t.String({ format: 'date-time' }) })),
    unknown: t.Boolean({ description: 'True when the caller cannot see it, or there is none of this id.' }),
  },
  { title: 'BusyTimes' },
)
/** When people and calendars are busy. */
export const freeBusy = schema(t.Object({ users: t.Array(busy), calendars: t.Array(busy) }, { title: 'FreeBusy' }))
export type FreeBusy = TypeOf<typeof freeBusy>

export const freeBusyQuery = schema(
  t.Object({
    from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone of the workspace.' }),
    to: t.String({ description: 'The same; the whole of a day is in.' }),
    users: t.Optional(t.String({ description: 'Ids with commas between.' })),
    calendars: t.Optional(t.String({ description: 'Ids with commas between.' })),
  }),
)

/** People and calendars that one question may be about. */
const mostAsked = 100

/** Reads ids with commas between. */
export function readIds(text: string | undefined, name: string): string[] {
  const ids = [...new Set((text ?? '').split(',').filter((id) => id !== ''))]
  if (ids.length > mostAsked) throw problem('VALIDATION_ERROR', `${name} must name at most ${mostAsked}`)
  return ids
}

/** When people and calendars are busy in a window, as far as the caller may see it. */
export async function getFreeBusy(scope: Scope, query: TypeOf<typeof freeBusyQuery>): Promise<FreeBusy> {
  const window = readWindow(query.from, query.to, scope.workspace.timezone)
  const [users, calendars] = [readIds(query.users, 'users'), readIds(query.calendars, 'calendars')]
  const times = await busyTimes(scope, users, calendars, window, questionBudget(scope))
  return {
    users: users.map((id) => shown(id, times.users.get(id.toLowerCase()))),
    calendars: calendars.map((id) => shown(id, times.calendars.get(id.toLowerCase()))),
  }
}

const shown = (id: string, times: readonly Busy[] | undefined) => ({
  id,
  busy: (times ?? []).map(({ start, end }) => ({ start: instantText(start), end: instantText(end) })),
  unknown: times === undefined,
})

/** When people and calendars are busy, by id in small letters; those that the caller cannot see are left out. */
export async function busyTimes(
  scope: Scope,
  users: readonly string[],
  calendars: readonly string[],
  window: Window,
  budget: ComputeBudget,
) {
  const { db, workspace, actor } = scope
  const asked = users.filter(isUuid).map((id) => id.toLowerCase())
  const owned = asked.length > 0 ? await listOwnedCalendars(db, workspace.id, actor.personId, asked) : []
  const visible = owned.filter((calendar) => atLeast(accessTo(calendar, actor), 'busy'))
  const known = asked.filter((id) => id === actor.personId || visible.some((calendar) => calendar.is_primary && calendar.owner_id === id))
  const named = [...(await accessCalendars(scope, calendars)).values()].map(({ calendar }) => calendar)
  const ofUsers = visible.filter(({ owner_id }) => known.includes(owner_id ?? ''))
  const all = new Map<string, Calendar>([...ofUsers, ...named].map((calendar) => [calendar.id, calendar]))
  const happens = await busyOnCalendars(scope, [...all.values()], window, budget)
  const elsewhere = await busyElsewhere(scope, known, window, budget)
  const onCalendar = (id: string) => happens.get(id) ?? []
  const busyOf = (id: string) => [
    ...ofUsers.filter(({ owner_id }) => owner_id === id).flatMap((calendar) => onCalendar(calendar.id)),
    ...(elsewhere.get(id) ?? []),
  ]
  const records = await recordsBusy(scope, named, window)
  return {
    users: new Map(known.map((id) => [id, merged(busyOf(id), window)])),
    calendars: new Map(named.map(({ id }) => [id, merged([...onCalendar(id), ...(records.get(id) ?? [])], window)])),
  }
}
