import { builder, type Knex } from '#shared/db/builder.ts'
import { slot, sql } from '#shared/db/statement.ts'
import type { ChangeEvent } from '#shared/events/change.ts'

/**
 * Files a dispatch of a statement's changes when anything listens to them. It is the statement's table `dispatched`; the statement has a
 * table `audited` of the ids of the audit entries that it wrote, and slots `workspaceId`, `objectType` and `cause`, the cause as JSON.
 */
export const dispatch = (event: ChangeEvent): Knex.Raw =>
  builder.raw(
    `insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
     select ?::uuid, ?::text, '${event}', array(select id from audited order by id), jsonb_object_agg(subscriber, ids), ?::jsonb
     from (
       select subscriber, jsonb_agg(listener_id order by listener_id) as ids
       from event_listeners
       where workspace_id = ?::uuid and object_type = ?::text and event = '${event}'
       group by subscriber
     ) as heard
     having count(*) > 0 and exists (select from audited)
     returning id`,
    ['workspaceId', 'objectType', 'cause', 'workspaceId', 'objectType'].map((name) => slot(name) as never),
  )

/** Whether the statement filed one. */
export const isDispatched = 'exists (select from dispatched) as dispatched'

/** Lets something listen. Values: workspace, subscriber, its id, type keys, and as many events. */
export const insertListeners = sql(
  'insert_listeners',
  `insert into event_listeners (workspace_id, subscriber, listener_id, object_type, event)
   select distinct $1::uuid, $2, $3::uuid, object_type, event from unnest($4::text[], $5::text[]) as heard (object_type, event)`,
)

/** Lets it listen to nothing. Values: workspace, subscriber, its id. */
export const deleteListeners = sql(
  'delete_listeners',
  'delete from event_listeners where workspace_id = $1 and subscriber = $2 and listener_id = $3',
)

/** The workspaces whose changes wait, in the order of their ids. Values: the workspace to go on after, how many at most. */
export const selectLines = sql('find_event_lines', 'select workspace_id as "workspaceId" from event_lines($1, $2) as workspace_id')

/**
 * Takes the oldest dispatches of some workspaces that nobody else is taking. Values: subscribers that are known, workspaces, how many of
 * each at most.
 */
export const takeChanges = sql(
  'take_changes',
  `select id, workspace_id as "workspaceId", object_type as "objectType", event, entry_ids as "entryIds", listeners, cause
   from take_changes($1, $2, $3) order by id`,
)
