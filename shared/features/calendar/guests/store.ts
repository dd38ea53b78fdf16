import type { GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import { memberColumns } from '#shared/features/calendar/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import {
  boolean,
  bytes,
  date,
  integer,
  integers,
  jsonb,
  type RowOf,
  selectList,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

const answer = text.as<GuestAnswer>()

const columns = {
  event_id: uuid.notNull,
  id: uuid.notNull,
  /** Null for a person outside the workspace. */
  user_id: uuid,
  email: text.notNull,
  name: text.notNull,
  status: answer.notNull,
  is_booker: boolean.notNull,
  is_mailed: boolean.notNull,
  token_sealed: bytes.notNull,
}
const list = selectList(columns)

/** A guest of an event. */
export type Attendee = RowOf<typeof columns>

/** The secrets in the addresses of invitation pages. */
export const guestTokens = defineSealed({
  table: 'calendar_attendees',
  column: 'token_sealed',
  key: { workspace_id: 'uuid', event_id: 'uuid', id: 'uuid' },
  purpose: 'calendar invitations',
  place: ['id'],
})

const selectAttendees = statement(
  'calendar.selectAttendees',
  `select ${list} from calendar_attendees
   where workspace_id = $workspaceId and event_id = any($eventIds) order by event_id, position, id`,
  { params: { workspaceId: uuid, eventIds: uuids }, columns },
)
/** The guests of some events by event, in the order in which they were invited. */
export async function findAttendees(db: Executor, workspaceId: string, eventIds: readonly string[]): Promise<Map<string, Attendee[]>> {
  const rows = eventIds.length === 0 ? [] : await db.query(selectAttendees({ workspaceId, eventIds }))
  return Map.groupBy(rows, ({ event_id }) => event_id)
}

const selectMemberGuests = statement(
  'calendar.selectMemberGuests',
  `select event_id, array_agg(user_id order by position, id) as ids from calendar_attendees
   where workspace_id = $workspaceId and event_id = any($eventIds::uuid[]) and user_id is not null group by event_id`,
  { params: { workspaceId: uuid, eventIds: uuids }, columns: { event_id: uuid.notNull, ids: uuids.notNull } },
)
/** The members among the guests of some events, by event. */
export async function findMemberGuests(
  db: Executor,
  workspaceId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = eventIds.length === 0 ? [] : await db.query(selectMemberGuests({ workspaceId, eventIds }))
  return new Map(rows.map(({ event_id, ids }) => [event_id, ids]))
}

/** A guest to write. */
export type WrittenAttendee = Attendee & {
  readonly position: number
  readonly token_hash: Buffer
}

const insertGiven = `
  insert into calendar_attendees (
    workspace_id, event_id, id, position, user_id, email, name, status, is_booker, is_mailed, token_hash, token_sealed
  )
  select $workspaceId::uuid, event_id, id, position, user_id, email, name, status, is_booker, is_mailed,
    decode(hash, 'hex'), decode(sealed, 'hex')
  from jsonb_to_recordset($attendees::jsonb) as given (event_id uuid, id uuid, position integer, user_id uuid, email text, name text,
    status text, is_booker boolean, is_mailed boolean, hash text, sealed text)`
/** The parameter `attendees` as JSON, with bytes as hexadecimal text. */
const attendeesJson = (attendees: readonly WrittenAttendee[]): string =>
  JSON.stringify(
    attendees.map(({ token_hash, token_sealed, ...one }) => ({
      ...one,
      hash: token_hash.toString('hex'),
      sealed: token_sealed.toString('hex'),
    })),
  )

const insertAttendeeRows = statement('calendar.insertAttendeeRows', insertGiven, { params: { workspaceId: uuid, attendees: jsonb } })
/** Inserts guests. */
export async function insertAttendees(db: Executor, workspaceId: string, attendees: readonly WrittenAttendee[]): Promise<void> {
  if (attendees.length > 0) await db.query(insertAttendeeRows({ workspaceId, attendees: attendeesJson(attendees) }))
}

const deleteOtherAttendees = statement(
  'calendar.deleteOtherAttendees',
  `delete from calendar_attendees as guest where workspace_id = $workspaceId and event_id = any($eventIds) and not exists (
     select from jsonb_to_recordset($attendees::jsonb) as given (event_id uuid, email text)
     where given.event_id = guest.event_id and lower(given.email) = lower(guest.email)
   )`,
  { params: { workspaceId: uuid, eventIds: uuids, attendees: jsonb } },
)
const upsertAttendees = statement(
  'calendar.upsertAttendees',
  `${insertGiven} on conflict (workspace_id, event_id, lower(email))
   do update set position = excluded.position, user_id = excluded.user_id, name = excluded.name, status = excluded.status`,
  { params: { workspaceId: uuid, attendees: jsonb } },
)
/** Replaces the guests of events. A guest with the same address keeps its id and the link in its mails. */
export async function replaceAttendees(
  db: Executor,
  workspaceId: string,
  eventIds: readonly string[],
  attendees: readonly WrittenAttendee[],
): Promise<void> {
  const json = attendeesJson(attendees)
  if (eventIds.length > 0) await db.query(deleteOtherAttendees({ workspaceId, eventIds, attendees: json }))
  if (attendees.length > 0) await db.query(upsertAttendees({ workspaceId, attendees: json }))
}

const deleteAttendeeRows = statement(
  'calendar.deleteAttendeeRows',
  'delete from calendar_attendees where workspace_id = $workspaceId and event_id = any($eventIds) and id = any($ids)',
  { params: { workspaceId: uuid, eventIds: uuids, ids: uuids } },
)
/** Deletes guests of events. */
export async function deleteAttendees(
  db: Executor,
  workspaceId: string,
  eventIds: readonly string[],
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await db.query(deleteAttendeeRows({ workspaceId, eventIds, ids }))
}

/** Stores a guest's answer. */
export const writeAnswer = statement(
  'calendar.writeAnswer',
  'update calendar_attendees set status = $status where workspace_id = $workspaceId and event_id = $eventId and id = $id',
  { params: { workspaceId: uuid, eventId: uuid, id: uuid, status: answer } },
)

const setAttendeeNames = statement(
  'calendar.setAttendeeNames',
  `update calendar_attendees as guest set name = given.name
   from jsonb_to_recordset($attendees::jsonb) as given (event_id uuid, id uuid, name text)
   where guest.workspace_id = $workspaceId and guest.event_id = given.event_id and guest.id = given.id`,
  { params: { workspaceId: uuid, attendees: jsonb } },
)
/** Changes the names of guests. */
export async function renameAttendees(
  db: Executor,
  workspaceId: string,
  renamed: readonly Pick<Attendee, 'event_id' | 'id' | 'name'>[],
): Promise<void> {
  if (renamed.length > 0) await db.query(setAttendeeNames({ workspaceId, attendees: JSON.stringify(renamed) }))
}

const setMailed = statement(
  'calendar.setMailed',
  'update calendar_attendees set is_mailed = $isMailed where workspace_id = $workspaceId and event_id = $eventId and id = any($ids)',
  { params: { workspaceId: uuid, eventId: uuid, ids: uuids, isMailed: boolean } },
)
/** Stores whether the last mail to some guests of an event was sent. */
export async function markMailed(
  db: Executor,
  workspaceId: string,
  eventId: string,
  ids: readonly string[],
  isMailed: boolean,
): Promise<void> {
  if (ids.length > 0) await db.query(setMailed({ workspaceId, eventId, ids, isMailed }))
}

/** The guest by the hash of its secret. */
export const findAttendeeByToken = statement(
  'calendar.findAttendeeByToken',
  `select ${list} from calendar_attendees where workspace_id = $workspaceId and token_hash = $tokenHash`,
  { params: { workspaceId: uuid, tokenHash: bytes }, columns },
)

/** Members by their ids or by their addresses in lower case. */
export const findMembers = statement(
  'calendar.findMembers',
  `select ${selectList(memberColumns, 'person')} from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $workspaceId and (member.user_id = any($ids) or lower(person.email) = any($emails)) order by person.id`,
  { params: { workspaceId: uuid, ids: uuids, emails: texts }, columns: memberColumns },
)

const clearAnswers = statement(
  'calendar.clearAnswers',
  `update calendar_attendees set status = 'needs_action'
   where workspace_id = $workspaceId and event_id = any($eventIds) and not is_booker`,
  { params: { workspaceId: uuid, eventIds: uuids } },
)
/** Clears the answers of events' guests. A booker, who chose the time, keeps its answer. */
export async function resetAnswers(db: Executor, workspaceId: string, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0) await db.query(clearAnswers({ workspaceId, eventIds }))
}

const addMailCounts = statement(
  'calendar.addMailCounts',
  `insert into calendar_mail_counts as counted (day, kind, subject, mails)
   select $day::date, $kind, subject, least(mails, $cap::integer)
   from unnest($subjects::text[], $counts::integer[]) as given (subject, mails) order by subject
   on conflict (day, kind, subject) do update set mails = least(counted.mails + excluded.mails, $cap::integer)
   returning subject, mails - coalesce(old.mails, 0) as granted`,
  {
    params: { day: date, kind: text, subjects: texts, counts: integers, cap: integer },
    columns: { subject: text.notNull, granted: integer.notNull },
  },
)
/** Counts mails to be sent by subject, up to the cap; concurrent callers wait. Returns how many of each are granted. */
export const countMails = (
  db: Executor,
  day: string,
  kind: string,
  mailCounts: readonly { readonly subject: string; readonly mails: number }[],
  cap: number,
) => {
  const subjects = mailCounts.map(({ subject }) => subject)
  const counts = mailCounts.map(({ mails }) => mails)
  return db.query(addMailCounts({ day, kind, subjects, counts, cap }))
}
