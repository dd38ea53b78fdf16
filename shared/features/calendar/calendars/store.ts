import type { CalendarSettings, CalendarShareView, CalendarView } from '#shared/features/calendar/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import {
  bigint,
  boolean,
  bytes,
  instant,
  jsonb,
  type RowOf,
  selectList,
  text,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { insertHappenings } from '#shared/platform/events/inbox-store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

declareConflicts({
  calendars_key: ['KEY_TAKEN', 'key is the key of another calendar'],
  calendars_cap: [
    'VALIDATION_ERROR',
    "a workspace can have 200 calendars besides the team's and each member's main one; delete some first",
  ],
})

const kind = text.as<CalendarView['kind']>()
const visibility = text.as<CalendarView['visibility']>()
const shareLevel = text.as<CalendarShareView['level']>()

const columns = {
  id: uuid.notNull,
  key: text.notNull,
  kind: kind.notNull,
  owner_id: uuid,
  is_primary: boolean.notNull,
  name: text.notNull,
  description: text.notNull,
  color: text.notNull,
  visibility: visibility.notNull,
  timezone: text.notNull,
  settings: jsonb.as<CalendarSettings>().notNull,
  feed_sealed: bytes,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const list = selectList(columns)

const columnsWithShare = {
  ...columns,
  /** The level of the given person's share; null without one. */
  share: shareLevel,
}

/** A stored calendar with a person's share of it. */
export type Calendar = RowOf<typeof columnsWithShare>

/** A person is given to every statement that begins with `selectShared`; its share is null for nobody. */
const sharedParams = { workspaceId: uuid, userId: uuid.orNull }
const selectShared = `
  select ${selectList(columns, 'calendar')}, share.level as share
  from calendars as calendar
  left join calendar_shares as share
    on share.workspace_id = calendar.workspace_id and share.calendar_id = calendar.id and share.user_id = $userId
  where calendar.workspace_id = $workspaceId and calendar.left_at is null`

const order = 'order by calendar.is_primary desc, calendar.created_at, calendar.id'

/** A calendar by id, without an access check; `share` is the given person's. No row when its owner has left the workspace. */
export const findCalendar = statement('calendar.findCalendar', `${selectShared} and calendar.id = $id`, {
  params: { ...sharedParams, id: uuid },
  columns: columnsWithShare,
})

/** Calendars by id, as `findCalendar`. */
export const findCalendarsById = statement('calendar.findCalendarsById', `${selectShared} and calendar.id = any($ids) ${order}`, {
  params: { ...sharedParams, ids: uuids },
  columns: columnsWithShare,
})

/** A calendar by key, as `findCalendar`. */
export const findCalendarByKey = statement('calendar.findCalendarByKey', `${selectShared} and calendar.key = $key`, {
  params: { ...sharedParams, key: text },
  columns: columnsWithShare,
})

/**
 * Calendars that may be visible to a person: those that are not personal, the person's own and shared ones. `withOthers` adds other
 * people's personal calendars whose visibility is not `none`.
 */
export const listCalendarRows = statement(
  'calendar.listCalendarRows',
  `${selectShared} and (
     calendar.kind <> 'personal' or calendar.owner_id = $userId or share.level is not null
     or ($withOthers and calendar.visibility <> 'none')
   )
   ${order}`,
  { params: { ...sharedParams, withOthers: boolean }, columns: columnsWithShare },
)

/** The personal calendars of some people. */
export const listOwnedCalendars = statement(
  'calendar.listOwnedCalendars',
  `${selectShared} and calendar.owner_id = any($ownerIds) ${order}`,
  {
    params: { ...sharedParams, ownerIds: uuids },
    columns: columnsWithShare,
  },
)

const selectCalendarIds = statement(
  'calendar.selectCalendarIds',
  `select id from calendars where workspace_id = $workspaceId and ($key = '' or key = $key) and kind <> 'records' order by id`,
  { params: { workspaceId: uuid, key: text }, columns: { id: uuid.notNull } },
)
/** The ids of the calendars of a workspace that have events, or of the one with `key` unless it is empty. */
export const listCalendarIds = async (db: Executor, workspaceId: string, key: string): Promise<string[]> =>
  (await db.query(selectCalendarIds({ workspaceId, key }))).map(({ id }) => id)

/** The columns of a new calendar. */
export type NewCalendar = Omit<Calendar, 'feed_sealed' | 'created_at' | 'updated_at' | 'share'>

const insertNew = `
  insert into calendars (
    workspace_id, id, key, kind, owner_id, is_primary, name, description, color, visibility, timezone, settings
  )
  values (
    $workspaceId, $id, $key, $kind, $ownerId, $isPrimary, $name, $description, $color, $visibility, $timezone, $settings::jsonb
  )`
const changeable = { name: text, description: text, color: text, visibility, timezone: text, settings: jsonb }
const newParams = { workspaceId: uuid, id: uuid, key: text, kind, ownerId: uuid.orNull, isPrimary: boolean, ...changeable }
const valuesOf = (workspaceId: string, { owner_id, is_primary, settings, ...calendar }: NewCalendar) => ({
  ...calendar,
  workspaceId,
  ownerId: owner_id,
  isPrimary: is_primary,
  settings: JSON.stringify(settings),
})

const insertCalendarRow = statement('calendar.insertCalendarRow', `${insertNew} returning ${list}, null as share`, {
  params: newParams,
  columns: columnsWithShare,
})
/** Inserts a calendar. Throws KEY_TAKEN. */
export async function insertCalendar(db: Executor, workspaceId: string, calendar: NewCalendar): Promise<Calendar> {
  return requireRow(await db.query(insertCalendarRow(valuesOf(workspaceId, calendar))))
}

const insertMissingCalendar = statement('calendar.insertMissingCalendar', `${insertNew} on conflict do nothing`, { params: newParams })
/** Inserts a calendar unless one has its key, or is the primary one of its owner if it is to be that. */
export async function insertCalendarOnce(db: Executor, workspaceId: string, calendar: NewCalendar): Promise<void> {
  await db.query(insertMissingCalendar(valuesOf(workspaceId, calendar)))
}

const updateCalendarRow = statement(
  'calendar.updateCalendarRow',
  `update calendars
   set name = $name, description = $description, color = $color, visibility = $visibility, timezone = $timezone,
     settings = $settings::jsonb, updated_at = $updatedAt
   where workspace_id = $workspaceId and id = $id returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, ...changeable, updatedAt: instant }, columns },
)
/** Stores the changeable columns of a calendar. */
export async function updateCalendar(db: Executor, workspaceId: string, calendar: Calendar, now: Date): Promise<Calendar> {
  const changed = updateCalendarRow({ ...calendar, workspaceId, settings: JSON.stringify(calendar.settings), updatedAt: now })
  return { ...requireRow(await db.query(changed)), share: calendar.share }
}

/** Locks a calendar until the transaction ends. */
export const lockCalendar = statement(
  'calendar.lockCalendar',
  'select id from calendars where workspace_id = $workspaceId and id = $id for no key update',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Locks a calendar before its deletion: writers of new events wait for the end of the transaction. No row when it does not exist. */
export const lockCalendarForDeletion = statement(
  'calendar.lockCalendarForDeletion',
  'select id from calendars where workspace_id = $workspaceId and id = $id for update',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

const utcText = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
const goneTime = (instant: string, date: string): string => `coalesce(${utcText(`gone.${instant}`)}, to_char(gone.${date}, 'YYYY-MM-DD'))`

/** Deletes the events of a calendar, and announces those that took place as cancelled, each series as one, as `listedEventOf` does. */
export const deleteEventsOfCalendar = statement(
  'calendar.deleteEventsOfCalendar',
  `with gone as (delete from calendar_events where workspace_id = $workspaceId and calendar_id = $id returning *)
   ${insertHappenings({
     source: 'calendar',
     workspace: '$workspaceId',
     cause: '$cause',
     from: `select 'event.cancelled' as event, calendar.key as topic, gone.id as subject_id,
        jsonb_build_object('calendar', calendar.id, 'id', gone.id) as subject,
        jsonb_build_object(
          'start', ${goneTime('start_at', 'start_date')}, 'end', ${goneTime('end_at', 'end_date')}, 'all_day', gone.start_date is not null,
          'title', gone.title, 'status', 'cancelled', 'series_id', null, 'original_start', null
        ) as data,
        jsonb_build_object(
          'calendar', jsonb_build_object('id', calendar.id, 'key', calendar.key, 'kind', calendar.kind, 'owner_id', calendar.owner_id),
          'visibility', gone.visibility,
          'guest_ids', array(
            select guest.user_id from calendar_attendees as guest
            where guest.workspace_id = gone.workspace_id and guest.event_id = gone.id and guest.user_id is not null order by guest.position, guest.id
          )
        ) as kept,
        gone.id as position
      from gone join calendars as calendar on calendar.workspace_id = gone.workspace_id and calendar.id = gone.calendar_id
      where gone.series_id is null and gone.status <> 'cancelled' and not gone.is_removed`,
   })}`,
  { params: { workspaceId: uuid, id: uuid, cause: text } },
)

/** Deletes a calendar. */
export const deleteCalendarRow = statement(
  'calendar.deleteCalendarRow',
  'delete from calendars where workspace_id = $workspaceId and id = $id',
  { params: { workspaceId: uuid, id: uuid } },
)

/** The secrets in the addresses of subscription links. */
export const feedSecrets = defineSealed({
  table: 'calendars',
  column: 'feed_sealed',
  key: { workspace_id: 'uuid', id: 'uuid' },
  purpose: 'calendar feeds',
  place: ['id'],
})

const setFeedSecret = statement(
  'calendar.setFeedSecret',
  `update calendars set feed_hash = $feedHash, feed_sealed = $feedSealed, updated_at = $updatedAt
   where workspace_id = $workspaceId and id = $id returning ${list}`,
  {
    params: { workspaceId: uuid, id: uuid, feedHash: bytes.orNull, feedSealed: bytes.orNull, updatedAt: instant },
    columns,
  },
)
/** Turns the subscription link on with a new secret, or off. */
export async function writeFeedSecret(
  db: Executor,
  workspaceId: string,
  calendar: Calendar,
  feed: { readonly hash: Buffer; readonly sealed: Buffer } | null,
  now: Date,
): Promise<Calendar> {
  const secret = { feedHash: feed?.hash, feedSealed: feed?.sealed }
  const rows = await db.query(setFeedSecret({ workspaceId, id: calendar.id, ...secret, updatedAt: now }))
  return { ...requireRow(rows), share: calendar.share }
}

const selectVersion = statement(
  'calendar.selectVersion',
  'select version, changed_at from calendar_states where workspace_id = $workspaceId and calendar_id = $id',
  { params: { workspaceId: uuid, id: uuid }, columns: { version: bigint.notNull, changed_at: instant.notNull } },
)
/** A number that grows with every change of a calendar or of its events, and the time of the last change. Throws NOT_FOUND. */
export async function calendarVersion(db: Executor, workspaceId: string, id: string) {
  return requireRow(await db.query(selectVersion({ workspaceId, id })))
}

const shareColumns = {
  id: uuid.notNull,
  email: text.notNull,
  user_id: uuid.notNull,
  name: text.notNull,
  level: shareLevel.notNull,
  created_at: instant.notNull,
}
const shareList = 'share.id, person.email, share.user_id, person.name, share.level, share.created_at'

/** The shares of a calendar, oldest first. */
export const listShareRows = statement(
  'calendar.listShareRows',
  `select ${shareList} from calendar_shares as share join users as person on person.id = share.user_id
   where share.workspace_id = $workspaceId and share.calendar_id = $calendarId order by share.created_at, share.id`,
  { params: { workspaceId: uuid, calendarId: uuid }, columns: shareColumns },
)

/** Shares a calendar with the member who has an address, or changes the level; no row when there is no such member. */
export const putCalendarShare = statement(
  'calendar.putCalendarShare',
  `with person as (
     select person.id, person.email, person.name from members as member join users as person on person.id = member.user_id
     where member.workspace_id = $workspaceId and lower(person.email) = lower($email)
   ),
   share as (
     insert into calendar_shares (workspace_id, calendar_id, id, user_id, level)
     select $workspaceId::uuid, $calendarId::uuid, $id::uuid, person.id, $level::text from person
     on conflict (workspace_id, calendar_id, user_id) do update set level = excluded.level
     returning id, user_id, level, created_at
   )
   select ${shareList}, share.id = $id::uuid as is_new from share join person on person.id = share.user_id`,
  {
    params: { workspaceId: uuid, calendarId: uuid, id: uuid, email: text, level: shareLevel },
    columns: { ...shareColumns, is_new: boolean.notNull },
  },
)

/** Deletes a share; no row when the calendar has no such share. */
export const deleteCalendarShare = statement(
  'calendar.deleteCalendarShare',
  'delete from calendar_shares where workspace_id = $workspaceId and calendar_id = $calendarId and id = $id returning id',
  { params: { workspaceId: uuid, calendarId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)
