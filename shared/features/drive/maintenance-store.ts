import { sql } from '#shared/platform/db/statements/statement.ts'

// Of all workspaces: what has been out of everybody's reach for long enough. A space counts by when its owner left.

/** Deletes files of such spaces, so many at most, counts them out of their workspaces, and says how many rows went. Values: before when, how many. */
export const deleteLeftObjects = sql(
  'delete_left_drive_objects',
  `with gone as (
     delete from drive_objects where (workspace_id, space_id, key) in (
       select object.workspace_id, object.space_id, object.key
       from drive_spaces as space
       join drive_objects as object on object.workspace_id = space.workspace_id and object.space_id = space.id
       where space.left_at < $1 order by object.workspace_id, object.space_id, object.key limit $2
     )
     returning workspace_id, size_bytes
   ),
   counted as (
     update file_usage as usage set total_bytes = usage.total_bytes - gone.bytes
     from (select workspace_id, sum(size_bytes) as bytes from gone group by workspace_id order by workspace_id) as gone
     where usage.workspace_id = gone.workspace_id
   )
   select count(*) from gone`,
)

/** Deletes such spaces, once nothing lies in them. Values: before when. */
export const deleteLeftSpaces = sql(
  'delete_left_drive_spaces',
  `delete from drive_spaces as space where left_at < $1
     and not exists (select from drive_objects as object where object.workspace_id = space.workspace_id and object.space_id = space.id)`,
)

/** Deletes shares with people who have left. Values: before when. */
export const deleteLeftShares = sql('delete_left_drive_shares', 'delete from drive_shares where left_at < $1')
