import { sql } from '#shared/platform/db/statements/statement.ts'

/** Bytes of a workspace's files. Values: workspace. */
export const findUsage = sql('find_file_usage', 'select total_bytes from file_usage where workspace_id = $1')

/**
 * Counts bytes that come or go; no row when what comes does not fit below the cap. Values: workspace, bytes, cap or null.
 */
export const changeUsage = sql(
  'change_file_usage',
  `insert into file_usage as usage (workspace_id, total_bytes)
   select $1, greatest($2::bigint, 0) where $3::bigint is null or $2::bigint <= $3::bigint
   on conflict (workspace_id) do update set total_bytes = usage.total_bytes + $2::bigint
     where $3::bigint is null or $2::bigint <= 0 or usage.total_bytes + $2::bigint <= $3::bigint
   returning total_bytes`,
)
