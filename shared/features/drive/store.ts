import { sql } from '#shared/platform/db/statements/statement.ts'

/** Bytes of a workspace's files. Values: workspace. */
export const findUsage = sql('find_file_usage', 'select total_bytes from file_usage where workspace_id = $1')

/** Adds bytes, or subtracts negative ones; no row when added bytes exceed the cap. Values: workspace, bytes, cap or null. */
export const changeUsage = sql(
  'change_file_usage',
  `insert into file_usage as usage (workspace_id, total_bytes)
   select $1, greatest($2::bigint, 0) where $3::bigint is null or $2::bigint <= $3::bigint
   on conflict (workspace_id) do update set total_bytes = usage.total_bytes + $2::bigint
     where $3::bigint is null or $2::bigint <= 0 or usage.total_bytes + $2::bigint <= $3::bigint
   returning total_bytes`,
)

/**
 * Deletes files of spaces whose owners left, in all workspaces, and subtracts their bytes; returns the number of deleted rows. Values: left
 * before, maximum number of rows.
 */
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

/** Deletes empty spaces whose owners left, in all workspaces. Values: left before. */
export const deleteLeftSpaces = sql(
  'delete_left_drive_spaces',
  `delete from drive_spaces as space where left_at < $1
     and not exists (select from drive_objects as object where object.workspace_id = space.workspace_id and object.space_id = space.id)`,
)

/** Deletes shares with people who left, in all workspaces. Values: left before. */
export const deleteLeftShares = sql('delete_left_drive_shares', 'delete from drive_shares where left_at < $1')
