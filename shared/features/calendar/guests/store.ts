import type { Attendee, GuestAnswer } from '#shared/features/calendar/events/event.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const columns = 'event_id, id, user_id, email, name, status, is_booker, is_mailed, token_sealed'

const ofEvents = sql(
  'find_event_attendees',
  `select ${columns} from calendar_attendees where workspace_id = $1 and event_id = any($2) order by event_id, position, id`,
)
/** The guests of some events, by event, in the order in which they were invited. */
export async function findAttendees(db: Executor, workspaceId: string, eventIds: readonly string[]): Promise<Map<string, Attendee[]>> {
  const rows = eventIds.length === 0 ? [] : await db.query<Attendee>(ofEvents(workspaceId, eventIds))
  return Map.groupBy(rows, ({ event_id }) => event_id)
}

/** A guest to be written. */
export type WrittenAttendee = Omit<Attendee, 'token_sealed'> & {
  readonly position: number
  readonly token_hash: Buffer
  readonly token_sealed: Buffer
}

const given = `
  insert into calendar_attendees (workspace_id, event_id, id, position, user_id, email, name, status, is_booker, is_mailed, token_hash, token_sealed)
  select $1::uuid, event_id, id, position, user_id, email, name, status, is_booker, is_mailed, decode(hash, 'hex'), decode(sealed, 'hex')
  from jsonb_to_recordset($2::jsonb) as given (event_id uuid, id uuid, position integer, user_id uuid, email text, name text, status text,
    is_booker boolean, is_mailed boolean, hash text, sealed text)`
const rowsOf = (attendees: readonly WrittenAttendee[]): string =>
  JSON.stringify(
    attendees.map(({ token_hash, token_sealed, ...one }) => ({
      ...one,
      hash: token_hash.toString('hex'),
      sealed: token_sealed.toString('hex'),
    })),
  )

const insert = sql('insert_event_attendees', given)
export async function insertAttendees(db: Executor, workspaceId: string, attendees: readonly WrittenAttendee[]): Promise<void> {
  if (attendees.length > 0) await db.query(insert(workspaceId, rowsOf(attendees)))
}

const removeOthers = sql(
  'delete_other_event_attendees',
  `delete from calendar_attendees as guest where workspace_id = $1 and event_id = any($2) and not exists (
     select from jsonb_to_recordset($3::jsonb) as given (event_id uuid, email text)
     where given.event_id = guest.event_id and lower(given.email) = lower(guest.email)
   )`,
)
const upsert = sql(
  'replace_event_attendees',
  `${given} on conflict (workspace_id, event_id, lower(email))
   do update set position = excluded.position, user_id = excluded.user_id, name = excluded.name, status = excluded.status`,
)
/** Gives events these guests and no others. A guest of the same address keeps its id, and the link that it was mailed. */
export async function replaceAttendees(
  db: Executor,
  workspaceId: string,
  eventIds: readonly string[],
  attendees: readonly WrittenAttendee[],
): Promise<void> {
  const rows = rowsOf(attendees)
  if (eventIds.length > 0) await db.query(removeOthers(workspaceId, eventIds, rows))
  if (attendees.length > 0) await db.query(upsert(workspaceId, rows))
}

const remove = sql(
  'delete_event_attendees',
  'delete from calendar_attendees where workspace_id = $1 and event_id = any($2) and id = any($3)',
)
/** Takes guests off events. */
export async function deleteAttendees(
  db: Executor,
  workspaceId: string,
  eventIds: readonly string[],
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await db.query(remove(workspaceId, eventIds, ids))
}

const setStatus = sql(
  'set_attendee_status',
  'update calendar_attendees set status = $4 where workspace_id = $1 and event_id = $2 and id = $3',
)
export async function writeAnswer(db: Executor, workspaceId: string, { event_id, id }: Attendee, status: GuestAnswer): Promise<void> {
  await db.query(setStatus(workspaceId, event_id, id, status))
}

const rename = sql(
  'rename_attendees',
  `update calendar_attendees as guest set name = given.name from jsonb_to_recordset($2::jsonb) as given (event_id uuid, id uuid, name text)
   where guest.workspace_id = $1 and guest.event_id = given.event_id and guest.id = given.id`,
)
export async function renameAttendees(
  db: Executor,
  workspaceId: string,
  renamed: readonly Pick<Attendee, 'event_id' | 'id' | 'name'>[],
): Promise<void> {
  if (renamed.length > 0) await db.query(rename(workspaceId, JSON.stringify(renamed)))
}

const setMailed = sql(
  'set_attendees_mailed',
  'update calendar_attendees set is_mailed = $4 where workspace_id = $1 and event_id = $2 and id = any($3)',
)
/** Notes whether the last mail to guests went out. */
export async function markMailed(
  db: Executor,
  workspaceId: string,
  eventId: string,
  ids: readonly string[],
  isMailed: boolean,
): Promise<void> {
  if (ids.length > 0) await db.query(setMailed(workspaceId, eventId, ids, isMailed))
}

const byToken = sql('find_attendee_by_token', `select ${columns} from calendar_attendees where workspace_id = $1 and token_hash = $2`)
export async function findAttendeeByToken(db: Executor, workspaceId: string, hash: Buffer): Promise<Attendee | undefined> {
  return (await db.query<Attendee>(byToken(workspaceId, hash)))[0]
}

const members = sql(
  'find_invited_members',
  `select person.id, person.email, person.name from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $1 and (member.user_id = any($2) or lower(person.email) = any($3)) order by person.id`,
)
/** Members by their ids or by their addresses in small letters. */
export const findMembers = (
  db: Executor,
  workspaceId: string,
  ids: readonly string[],
  emails: readonly string[],
): Promise<{ readonly id: string; readonly email: string; readonly name: string }[]> => db.query(members(workspaceId, ids, emails))

const reset = sql(
  'reset_event_answers',
  `update calendar_attendees set status = 'needs_action' where workspace_id = $1 and event_id = any($2) and not is_booker`,
)
/** Takes back what the guests of events have answered; a booker has asked for the time itself. */
export async function resetAnswers(db: Executor, workspaceId: string, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0) await db.query(reset(workspaceId, eventIds))
}

const takeMails = sql(
  'take_calendar_mail_share',
  `insert into calendar_mail_counts as counted (day, kind, subject, mails)
   select $1::date, $2, subject, least(mails, $5::integer) from unnest($3::text[], $4::integer[]) as asked (subject, mails) order by subject
   on conflict (day, kind, subject) do update set mails = least(counted.mails + excluded.mails, $5::integer)
   returning subject, mails - coalesce(old.mails, 0) as granted`,
)

/** Counts mails to be sent by subject, up to the cap; concurrent callers wait. Returns how many of each are granted. */
export const countMails = (
  db: Executor,
  day: string,
  kind: string,
  counts: readonly { readonly subject: string; readonly mails: number }[],
  cap: number,
): Promise<{ readonly subject: string; readonly granted: number }[]> =>
  db.query(
    takeMails(
      day,
      kind,
      counts.map(({ subject }) => subject),
      counts.map(({ mails }) => mails),
      cap,
    ),
  )
