import { bigint, boolean, integer, jsonb, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { Dispatch } from '#shared/platform/events/numbering-store.ts'
import type { StoredCause } from '#shared/platform/kernel/cause.ts'

/**
 * Stores dispatches whose jobs have to wait, in their order: `dispatches` is a JSON list. What waits of a workspace goes first, in the order
 * of ids, which the database makes.
 */
export const insertWaitingDeliveries = statement(
  'events.insertWaitingDeliveries',
  `insert into waiting_deliveries (workspace_id, seq, source, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause)
   select "workspaceId", seq, source, "objectType", event, "entryIds", "subjectIds", nullif(snapshots, 'null'), listeners, cause
   from rows from (jsonb_to_recordset($dispatches::text::jsonb) as (
     "workspaceId" uuid, seq bigint, source text, "objectType" text, event text, "entryIds" uuid[], "subjectIds" uuid[], snapshots jsonb,
     listeners jsonb, cause jsonb
   )) with ordinality as dispatch (
     "workspaceId", seq, source, "objectType", event, "entryIds", "subjectIds", snapshots, listeners, cause, position
   )
   order by position`,
  { params: { dispatches: text } },
)

/** The workspaces with waiting deliveries after a workspace, ordered by id, and whether each is suspended: null if it does not exist. */
export const findWaitingWorkspaces = statement(
  'events.findWaitingWorkspaces',
  `select listed as "workspaceId", (select status = 'suspended' from workspaces where id = listed) as "isSuspended"
   from list_dispatch_workspaces($afterId, $limit) as listed order by listed`,
  { params: { afterId: uuid, limit: integer }, columns: { workspaceId: uuid.notNull, isSuspended: boolean } },
)

/**
 * Takes the oldest waiting deliveries of each workspace, at most `perWorkspace`, except those that another transaction has locked. Their
 * rows are deleted when the transaction commits, and wait again when it fails. One with a subscriber that is not in `known` is left to a
 * process that knows it.
 */
export const takeDispatches = statement(
  'events.takeDispatches',
  `select id, workspace_id as "workspaceId", seq, source, object_type as "objectType", event, entry_ids as "entryIds",
     subject_ids as "subjectIds", snapshots, listeners, cause
   from take_dispatches($known, $workspaceIds, $perWorkspace) order by id`,
  {
    params: { known: texts, workspaceIds: uuids, perWorkspace: integer },
    columns: {
      id: uuid.notNull,
      workspaceId: uuid.notNull,
      seq: bigint,
      source: text.notNull,
      objectType: text.notNull,
      event: text.notNull,
      entryIds: uuids.notNull,
      subjectIds: uuids.notNull,
      snapshots: jsonb.as<unknown[]>(),
      listeners: jsonb.as<Dispatch['listeners']>().notNull,
      cause: jsonb.as<StoredCause>().notNull,
    },
  },
)
