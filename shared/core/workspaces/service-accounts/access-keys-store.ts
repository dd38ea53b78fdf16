import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** An access key without its secret, of which only a hash is kept. */
export interface AccessKey {
  readonly id: string
  readonly name: string
  /** Enough of the key to recognise it. */
  readonly prefix: string
  readonly expires_at: string | null
  readonly created_at: string
}

const columns = 'id, name, prefix, expires_at, created_at'

const list = sql(
  'list_access_keys',
  `select ${columns} from access_keys where workspace_id = $1 and service_account_id = $2 order by created_at, id`,
)
export const listAccessKeyRows = (db: Executor, workspaceId: string, accountId: string): Promise<AccessKey[]> =>
  db.query<AccessKey>(list(workspaceId, accountId))

const find = sql('find_access_key', `select ${columns} from access_keys where workspace_id = $1 and service_account_id = $2 and id = $3`)
export async function findAccessKey(db: Executor, workspaceId: string, accountId: string, id: string): Promise<AccessKey | undefined> {
  return (await db.query<AccessKey>(find(workspaceId, accountId, id)))[0]
}

const insert = sql(
  'insert_access_key',
  `insert into access_keys (workspace_id, id, service_account_id, name, prefix, secret_hash, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
)
export async function insertAccessKey(
  db: Executor,
  workspaceId: string,
  accountId: string,
  key: { id: string; name: string; prefix: string; secretHash: Buffer; expiresAt: string | null },
): Promise<AccessKey> {
  const { id, name, prefix, secretHash, expiresAt } = key
  return (await db.query<AccessKey>(insert(workspaceId, id, accountId, name, prefix, secretHash, expiresAt)))[0] as AccessKey
}

const remove = sql(
  'delete_access_key',
  'delete from access_keys where workspace_id = $1 and service_account_id = $2 and id = $3 returning id',
)
/** Deletes a key of a service account; false when it has none of this id. */
export async function deleteAccessKey(db: Executor, workspaceId: string, accountId: string, id: string): Promise<boolean> {
  return (await db.query(remove(workspaceId, accountId, id))).length > 0
}

const removeById = sql('delete_access_key_by_id', 'delete from access_keys where id = $1 returning id')
const removeByHash = sql('delete_access_key_by_hash', 'delete from access_keys where secret_hash = $1 returning id')

/** Deletes a key of any workspace, for the operator, and returns its id; undefined when it does not exist. */
export async function deleteAccessKeyById(db: Executor, id: string): Promise<string | undefined> {
  return (await db.query<{ id: string }>(removeById(id)))[0]?.id
}
/** Same as `deleteAccessKeyById`, by the hash of the key's secret: for a key that was found in public. */
export async function deleteAccessKeyByHash(db: Executor, secretHash: Buffer): Promise<string | undefined> {
  return (await db.query<{ id: string }>(removeByHash(secretHash)))[0]?.id
}
