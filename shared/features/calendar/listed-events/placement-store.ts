import { calendarTypes, type EventPlace } from '#shared/features/calendar/listed-events/listed-event.ts'
import { boolean, jsonb, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** The calendars and privacy of events that viewers can reach, and whether a person is a guest of each. */
export const findPlacements = statement(
  'calendar.findPlacements',
  `select event.id, event.calendar_id, event.visibility, me.id is not null as is_guest
   from calendar_events as event
   left join calendar_attendees as me on me.workspace_id = event.workspace_id and me.event_id = event.id and me.user_id = $userId
   where event.workspace_id = $workspaceId and event.id = any($ids::uuid[]) and not event.is_removed`,
  {
    params: { workspaceId: uuid, userId: uuid.orNull, ids: uuids },
    columns: {
      id: uuid.notNull,
      calendar_id: uuid.notNull,
      visibility: text.as<'default' | 'private'>().notNull,
      is_guest: boolean.notNull,
    },
  },
)

const listedTypes = calendarTypes.map((type) => `'${type}'`).join()

/** What was kept last of some events, numbered or not. */
export const findLastKept = statement(
  'calendar.findLastKept',
  `select distinct on (subject_id) subject_id as id, kept
   from (
     select subject_id, kept, 0 as later, seq as place from events
     where workspace_id = $workspaceId and subject_id = any($ids::uuid[]) and type in (${listedTypes})
     union all
     select subject_id, kept, 1, id from event_inbox
     where workspace_id = $workspaceId and subject_id = any($ids::uuid[]) and type in (${listedTypes})
   ) as told
   order by subject_id, later desc, place desc`,
  { params: { workspaceId: uuid, ids: uuids }, columns: { id: uuid.notNull, kept: jsonb.as<EventPlace>().notNull } },
)
