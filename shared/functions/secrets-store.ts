import { sql } from '#shared/db/statement.ts'

/** The names of a workspace's secrets. Values: workspace. */
export const findSecrets = sql(
  'find_secrets',
  'select name, created_at, updated_at from function_secrets where workspace_id = $1 order by name',
)

/** A sealed value. Values: workspace, name. */
export const findSecret = sql('find_secret', 'select value from function_secrets where workspace_id = $1 and name = $2')

/** Keeps a sealed value in place of the one before. Values: workspace, name, value. */
export const putSecret = sql(
  'put_secret',
  `insert into function_secrets (workspace_id, name, value) values ($1, $2, $3)
   on conflict (workspace_id, name) do update set value = excluded.value, updated_at = now()
   returning name, created_at, updated_at`,
)

/** Values: workspace, name. */
export const deleteSecret = sql('delete_secret', 'delete from function_secrets where workspace_id = $1 and name = $2 returning name')
