import { bigint, instant, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Bytes of a workspace's files. */
export const findUsage = statement('drive.findUsage', 'select total_bytes from file_usage where workspace_id = $workspaceId', {
  params: { workspaceId: uuid },
  columns: { total_bytes: bigint.notNull },
})

/** Adds bytes, or subtracts negative ones; returns no row when added bytes exceed the cap. Without a cap every number fits. */
export const changeUsage = statement(
  'drive.changeUsage',
  `insert into file_usage as usage (workspace_id, total_bytes)
   select $workspaceId, greatest($bytes::bigint, 0) where $cap::bigint is null or $bytes::bigint <= $cap::bigint
   on conflict (workspace_id) do update set total_bytes = usage.total_bytes + $bytes::bigint
     where $cap::bigint is null or $bytes::bigint <= 0 or usage.total_bytes + $bytes::bigint <= $cap::bigint
   returning total_bytes`,
  { params: { workspaceId: uuid, bytes: bigint, cap: bigint.orNull }, columns: { total_bytes: bigint.notNull } },
)

/** Deletes files of spaces whose owners left, in all workspaces, and subtracts their bytes; returns the number of deleted rows. */
export const deleteLeftObjects = statement(
  'drive.deleteLeftObjects',
  `with gone as (
     delete from drive_objects where (workspace_id, space_id, key) in (
       select object.workspace_id, object.space_id, object.key
       from drive_spaces as space
       join drive_objects as object on object.workspace_id = space.workspace_id and object.space_id = space.id
       where space.left_at < $leftBefore order by object.workspace_id, object.space_id, object.key limit $limit
     )
     returning workspace_id, size_bytes
   ),
   counted as (
     update file_usage as usage set total_bytes = usage.total_bytes - gone.bytes
     from (select workspace_id, sum(size_bytes) as bytes from gone group by workspace_id order by workspace_id) as gone
     where usage.workspace_id = gone.workspace_id
   )
   select count(*) from gone`,
  { params: { leftBefore: instant, limit: bigint }, columns: { count: bigint.notNull } },
)

/** Deletes empty spaces whose owners left, in all workspaces. */
export const deleteLeftSpaces = statement(
  'drive.deleteLeftSpaces',
  `delete from drive_spaces as space where left_at < $leftBefore
     and not exists (select from drive_objects as object where object.workspace_id = space.workspace_id and object.space_id = space.id)`,
  { params: { leftBefore: instant } },
)

/** Deletes shares with people who left, in all workspaces. */
export const deleteLeftShares = statement('drive.deleteLeftShares', 'delete from drive_shares where left_at < $leftBefore', {
  params: { leftBefore: instant },
})
