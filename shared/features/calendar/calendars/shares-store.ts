import type { CalendarShareView } from '#shared/features/calendar/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const shown = `share.id, person.email, share.user_id, person.name, share.level, share.created_at`

const list = sql(
  'list_calendar_shares',
  `select ${shown} from calendar_shares as share join users as person on person.id = share.user_id
   where share.workspace_id = $1 and share.calendar_id = $2 order by share.created_at, share.id`,
)
export const listShareRows = (db: Executor, workspaceId: string, calendarId: string): Promise<CalendarShareView[]> =>
  db.query<CalendarShareView>(list(workspaceId, calendarId))

const put = sql(
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
   select ${shown}, share.id = $3::uuid as is_new from share join person on person.id = share.user_id`,
)
/** Shares with the member of an address, or changes the level; undefined when there is no such member. */
export async function putCalendarShare(
  db: Executor,
  workspaceId: string,
  calendarId: string,
  share: { readonly id: string; readonly email: string; readonly level: string },
): Promise<(CalendarShareView & { readonly is_new: boolean }) | undefined> {
  const { id, email, level } = share
  return (await db.query<CalendarShareView & { is_new: boolean }>(put(workspaceId, calendarId, id, email, level)))[0]
}

const remove = sql(
  'delete_calendar_share',
  'delete from calendar_shares where workspace_id = $1 and calendar_id = $2 and id = $3 returning id',
)
export async function deleteCalendarShare(db: Executor, workspaceId: string, calendarId: string, id: string): Promise<boolean> {
  return (await db.query(remove(workspaceId, calendarId, id))).length > 0
}
