import { sql } from '#shared/platform/db/statements/statement.ts'

/** The names of a workspace's secrets. Values: workspace. */
export const findSecrets = sql(
  'find_secrets',
  'select name, created_at, updated_at from function_secrets where workspace_id = $1 order by name',
)

/** The encrypted value of a secret. Values: workspace, name. */
export const findSecret = sql('find_secret', 'select value from function_secrets where workspace_id = $1 and name = $2')

/** Makes transactions that store secrets of a workspace wait for each other, so that each counts the others' secrets. Values: workspace. */
export const lockSecrets = sql('lock_secrets', `select pg_advisory_xact_lock(hashtextextended('function secrets ' || $1, 0))`)

/**
 * Stores an encrypted value, in place of an earlier one. Returns no row when the workspace has the maximum number of other secrets. Values:
 * workspace, name, encrypted value, maximum number.
 */
export const putSecret = sql(
  'put_secret',
  `insert into function_secrets (workspace_id, name, value)
   select $1, $2, $3
   where (select count(*) from function_secrets where workspace_id = $1 and name <> $2) < $4
   on conflict (workspace_id, name) do update set value = excluded.value, updated_at = now()
   returning name, created_at, updated_at`,
)

/** Deletes a secret; returns no row when there is none. Values: workspace, name. */
export const deleteSecret = sql('delete_secret', 'delete from function_secrets where workspace_id = $1 and name = $2 returning name')
