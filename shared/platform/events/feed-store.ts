import { instant, integer, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/**
 * Deletes the first events of the next workspaces after one, at most `perWorkspace` of each, as far as they are older than `before` and the
 * deliveries to their listeners do not wait. What stays has no gap: an event that committed late and is older than one before it stays with
 * that one. Returns the workspaces with the numbers of their deleted events.
 */
export const deleteOldEvents = statement(
  'events.deleteOldEvents',
  `with heads as (
     select workspace_id from feed_heads where workspace_id > $afterId::uuid order by workspace_id limit $workspaces::integer
   ),
   bounds as (
     select heads.workspace_id, oldest.last, oldest.first_kept,
       (select seq from waiting_deliveries where workspace_id = heads.workspace_id and seq is not null order by id limit 1) as first_waiting
     from heads cross join lateral (
       select max(seq) as last, min(seq) filter (where uuid_extract_timestamp(id) >= $before::timestamptz) as first_kept
       from (select seq, id from events where workspace_id = heads.workspace_id order by seq limit $perWorkspace::integer) as first
     ) as oldest
   ),
   gone as (
     delete from events using bounds
     where events.workspace_id = bounds.workspace_id and seq <= last and seq < least(coalesce(first_kept, last + 1), first_waiting)
     returning events.workspace_id
   )
   select heads.workspace_id as "workspaceId", (select count(*) from gone where gone.workspace_id = heads.workspace_id)::integer as deleted
   from heads order by heads.workspace_id`,
  {
    params: { afterId: uuid, workspaces: integer, perWorkspace: integer, before: instant },
    columns: { workspaceId: uuid.notNull, deleted: integer.notNull },
  },
)
