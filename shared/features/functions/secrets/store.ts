import { bigint, bytes, instant, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

const columns = { name: text.notNull, created_at: instant.notNull, updated_at: instant.notNull }
const list = selectList(columns)

/** The values of secrets. */
export const secretValues = defineSealed({
  table: 'function_secrets',
  column: 'value',
  key: { workspace_id: 'uuid', name: 'text' },
  purpose: 'function secrets',
  place: ['workspace_id', 'name'],
})

/** The names of a workspace's secrets. */
export const findSecrets = statement(
  'functions.findSecrets',
  `select ${list} from function_secrets where workspace_id = $workspaceId order by name`,
  { params: { workspaceId: uuid }, columns },
)

/** The encrypted value of a secret. */
export const findSecret = statement(
  'functions.findSecret',
  'select value from function_secrets where workspace_id = $workspaceId and name = $name',
  { params: { workspaceId: uuid, name: text }, columns: { value: bytes.notNull } },
)

/** Makes transactions that store secrets of a workspace wait for each other, so that each counts the others' secrets. */
export const lockSecrets = statement(
  'functions.lockSecrets',
  `select from pg_advisory_xact_lock(hashtextextended('function secrets ' || $workspaceId, 0))`,
  { params: { workspaceId: text } },
)

/** Stores an encrypted value, in place of an earlier one. Returns no row when the workspace has `maxSecrets` other secrets. */
export const putSecret = statement(
  'functions.putSecret',
  `insert into function_secrets (workspace_id, name, value)
   select $workspaceId, $name, $value
   where (select count(*) from function_secrets where workspace_id = $workspaceId and name <> $name) < $maxSecrets
   on conflict (workspace_id, name) do update set value = excluded.value, updated_at = now()
   returning ${list}`,
  { params: { workspaceId: uuid, name: text, value: bytes, maxSecrets: bigint }, columns },
)

/** Deletes a secret; returns no row when there is none. */
export const deleteSecret = statement(
  'functions.deleteSecret',
  'delete from function_secrets where workspace_id = $workspaceId and name = $name returning name',
  { params: { workspaceId: uuid, name: text }, columns: { name: text.notNull } },
)
