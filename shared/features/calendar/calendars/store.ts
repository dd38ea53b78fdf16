import type { CalendarSettings, CalendarShareView, shareLevels } from '#shared/features/calendar/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

declareConflicts({
  calendars_key: ['KEY_TAKEN', 'key is the key of another calendar'],
  calendars_cap: [
    'VALIDATION_ERROR',
    "a workspace can have 200 calendars besides the team's and each member's main one; delete some first",
  ],
})

/** A calendar as it is kept, with what its caller's share of it allows. */
export interface Calendar {
  readonly id: string
  readonly key: string
  readonly kind: 'personal' | 'org' | 'records'
  readonly owner_id: string | null
  readonly is_primary: boolean
  readonly name: string
  readonly description: string
  readonly color: string
  readonly visibility: 'none' | 'busy' | 'read'
  readonly timezone: string
  readonly settings: CalendarSettings
  readonly feed_sealed: Buffer | null
  readonly created_at: string
  readonly updated_at: string
  /** Of the share with the person that asked; null without one. */
  readonly share: (typeof shareLevels)[number] | null
}

const columns = [
  ...['id', 'key', 'kind', 'owner_id', 'is_primary', 'name', 'description', 'color', 'visibility', 'timezone', 'settings'],
  ...['feed_sealed', 'created_at', 'updated_at'],
]
const own = columns.map((column) => `calendar.${column}`).join(', ')
const all = columns.join(', ')

const shared = `
  select ${own}, share.level as share
  from calendars as calendar
  left join calendar_shares as share
    on share.workspace_id = calendar.workspace_id and share.calendar_id = calendar.id and share.user_id = $2
  where calendar.workspace_id = $1 and calendar.left_at is null`

const order = 'order by calendar.is_primary desc, calendar.created_at, calendar.id'

const find = sql('find_calendar', `${shared} and calendar.id = $3`)
/** A calendar by id, without an access check; `share` is the given person's. None when its owner has left the workspace. */
export async function findCalendar(db: Executor, workspaceId: string, userId: string | null, id: string): Promise<Calendar | undefined> {
  return (await db.query<Calendar>(find(workspaceId, userId, id)))[0]
}

const findMany = sql('find_calendars', `${shared} and calendar.id = any($3) ${order}`)
export const findCalendarsById = (db: Executor, workspaceId: string, userId: string | null, ids: readonly string[]): Promise<Calendar[]> =>
  db.query<Calendar>(findMany(workspaceId, userId, ids))

const findByKey = sql('find_calendar_by_key', `${shared} and calendar.key = $3`)
export async function findCalendarByKey(db: Executor, workspaceId: string, key: string): Promise<Calendar | undefined> {
  return (await db.query<Calendar>(findByKey(workspaceId, null, key)))[0]
}

// Personal calendars of others that neither are shared nor let themselves be seen are no matter of this person.
const list = sql(
  'list_calendars',
  `${shared} and (calendar.kind <> 'personal' or calendar.owner_id = $2 or share.level is not null or ($3 and calendar.visibility <> 'none'))
   ${order}`,
)
/** Calendars that may be visible to a person: with `all`, others' personal ones by their visibility too. */
export const listCalendarRows = (db: Executor, workspaceId: string, userId: string | null, withOthers: boolean): Promise<Calendar[]> =>
  db.query<Calendar>(list(workspaceId, userId, withOthers))

const listOwned = sql('list_owned_calendars', `${shared} and calendar.owner_id = any($3) ${order}`)
/** The personal calendars of some people. */
export const listOwnedCalendars = (
  db: Executor,
  workspaceId: string,
  viewerId: string | null,
  owners: readonly string[],
): Promise<Calendar[]> => db.query<Calendar>(listOwned(workspaceId, viewerId, owners))

const ids = sql(
  'list_calendar_ids',
  `select id from calendars where workspace_id = $1 and ($2 = '' or key = $2) and kind <> 'records' order by id`,
)
/** The ids of all calendars of a workspace that keep events, or of the one of a key. */
export const listCalendarIds = async (db: Executor, workspaceId: string, key: string): Promise<string[]> =>
  (await db.query<{ id: string }>(ids(workspaceId, key))).map(({ id }) => id)

/** What a new calendar is made of. */
export type NewCalendar = Pick<
  Calendar,
  'id' | 'key' | 'kind' | 'owner_id' | 'is_primary' | 'name' | 'description' | 'color' | 'visibility' | 'timezone' | 'settings'
>

const inserted = `insert into calendars
    (workspace_id, id, key, kind, owner_id, is_primary, name, description, color, visibility, timezone, settings)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb)`
const insert = sql('insert_calendar', `${inserted} returning ${all}, null as share`)
const insertOnce = sql('insert_calendar_once', `${inserted} on conflict do nothing returning ${all}, null as share`)
const valuesOf = (workspaceId: string, made: NewCalendar) => [
  ...[workspaceId, made.id, made.key, made.kind, made.owner_id, made.is_primary, made.name, made.description, made.color, made.visibility],
  ...[made.timezone, JSON.stringify(made.settings)],
]
/** Makes a calendar. Throws KEY_TAKEN. */
export async function insertCalendar(db: Executor, workspaceId: string, made: NewCalendar): Promise<Calendar> {
  return (await db.query<Calendar>(insert(...valuesOf(workspaceId, made))))[0] as Calendar
}
/** Makes a calendar unless there is one of its key, or of its owner if it is to be the primary one. */
export async function insertCalendarOnce(db: Executor, workspaceId: string, made: NewCalendar): Promise<void> {
  await db.query(insertOnce(...valuesOf(workspaceId, made)))
}

const update = sql(
  'update_calendar',
  `update calendars set name = $3, description = $4, color = $5, visibility = $6, timezone = $7, settings = $8::jsonb, updated_at = $9
   where workspace_id = $1 and id = $2 returning ${all}`,
)
/** Writes what may change of a calendar. */
export async function updateCalendar(db: Executor, workspaceId: string, calendar: Calendar, now: Date): Promise<Calendar> {
  const { id, name, description, color, visibility, timezone, settings } = calendar
  const values = [workspaceId, id, name, description, color, visibility, timezone, JSON.stringify(settings), now]
  const [row] = await db.query<Omit<Calendar, 'share'>>(update(...values))
  return { ...(row as Omit<Calendar, 'share'>), share: calendar.share }
}

const lock = sql('lock_calendar', `select id from calendars where workspace_id = $1 and id = $2 for no key update`)
/** Keeps others who lock it waiting until the transaction ends; false when there is no such calendar any more. */
export async function lockCalendar(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(lock(workspaceId, id))).length > 0
}

const remove = sql('delete_calendar', 'delete from calendars where workspace_id = $1 and id = $2 returning id')
export async function deleteCalendarRow(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(remove(workspaceId, id))).length > 0
}

const setFeed = sql(
  'set_calendar_feed',
  `update calendars set feed_hash = $3, feed_sealed = $4, updated_at = $5 where workspace_id = $1 and id = $2 returning ${all}`,
)
/** Turns the subscription link on with a new secret, or off. */
export async function writeFeedSecret(
  db: Executor,
  workspaceId: string,
  calendar: Calendar,
  feed: { readonly hash: Buffer; readonly sealed: Buffer } | null,
  now: Date,
): Promise<Calendar> {
  const [row] = await db.query<Omit<Calendar, 'share'>>(setFeed(workspaceId, calendar.id, feed?.hash ?? null, feed?.sealed ?? null, now))
  return { ...(row as Omit<Calendar, 'share'>), share: calendar.share }
}

const version = sql('find_calendar_version', 'select version, changed_at from calendar_states where workspace_id = $1 and calendar_id = $2')
/** A number that grows with every change of a calendar or of its events, and when it grew last. Throws NOT_FOUND. */
export async function calendarVersion(db: Executor, workspaceId: string, id: string): Promise<{ version: number; changed_at: string }> {
  const [row] = await db.query<{ version: number; changed_at: string }>(version(workspaceId, id))
  if (!row) throw problem('NOT_FOUND')
  return row
}

const shownShare = `share.id, person.email, share.user_id, person.name, share.level, share.created_at`

const listShares = sql(
  'list_calendar_shares',
  `select ${shownShare} from calendar_shares as share join users as person on person.id = share.user_id
   where share.workspace_id = $1 and share.calendar_id = $2 order by share.created_at, share.id`,
)
export const listShareRows = (db: Executor, workspaceId: string, calendarId: string): Promise<CalendarShareView[]> =>
  db.query<CalendarShareView>(listShares(workspaceId, calendarId))

const putShare = sql(
  'put_calendar_share',
  `with person as (
     select person.id, person.email, person.name from members as member join users as person on person.id = member.user_id
     where member.workspace_id = $1 and lower(person.email) = lower($4)
   ),
   share as (
     insert into calendar_shares (workspace_id, calendar_id, id, user_id, level)
     select $1::uuid, $2::uuid, $3::uuid, person.id, $5::text from person
     on conflict (workspace_id, calendar_id, user_id) do update set level = excluded.level
     returning id, user_id, level, created_at
   )
   select ${shownShare}, share.id = $3::uuid as is_new from share join person on person.id = share.user_id`,
)
/** Shares with the member of an address, or changes the level; undefined when there is no such member. */
export async function putCalendarShare(
  db: Executor,
  workspaceId: string,
  calendarId: string,
  share: { readonly id: string; readonly email: string; readonly level: string },
): Promise<(CalendarShareView & { readonly is_new: boolean }) | undefined> {
  const { id, email, level } = share
  return (await db.query<CalendarShareView & { is_new: boolean }>(putShare(workspaceId, calendarId, id, email, level)))[0]
}

const removeShare = sql(
  'delete_calendar_share',
  'delete from calendar_shares where workspace_id = $1 and calendar_id = $2 and id = $3 returning id',
)
export async function deleteCalendarShare(db: Executor, workspaceId: string, calendarId: string, id: string): Promise<boolean> {
  return (await db.query(removeShare(workspaceId, calendarId, id))).length > 0
}
