import type { Executor } from '#shared/platform/db/database.ts'
import { bytes, instant, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  name: text.notNull,
  /** Enough of the key to recognise it. */
  prefix: text.notNull,
  expires_at: instant,
  created_at: instant.notNull,
}
const list = selectList(columns)

/** An access key without its secret, of which only a hash is kept. */
export type AccessKey = RowOf<typeof columns>

const listKeys = statement(
  'workspaces.listKeys',
  `select ${list} from access_keys where workspace_id = $workspaceId and service_account_id = $accountId order by created_at, id`,
  { params: { workspaceId: uuid, accountId: uuid }, columns },
)
export const listAccessKeyRows = (db: Executor, workspaceId: string, accountId: string): Promise<AccessKey[]> =>
  db.query(listKeys({ workspaceId, accountId }))

const selectKey = statement(
  'workspaces.selectKey',
  `select ${list} from access_keys where workspace_id = $workspaceId and service_account_id = $accountId and id = $id`,
  { params: { workspaceId: uuid, accountId: uuid, id: uuid }, columns },
)
export async function findAccessKey(db: Executor, workspaceId: string, accountId: string, id: string): Promise<AccessKey | undefined> {
  return (await db.query(selectKey({ workspaceId, accountId, id })))[0]
}

const insertKey = statement(
  'workspaces.insertKey',
  `insert into access_keys (workspace_id, id, service_account_id, name, prefix, secret_hash, expires_at)
   values ($workspaceId, $id, $accountId, $name, $prefix, $secretHash, $expiresAt) returning ${list}`,
  {
    params: { workspaceId: uuid, accountId: uuid, id: uuid, name: text, prefix: text, secretHash: bytes, expiresAt: instant.orNull },
    columns,
  },
)
export async function insertAccessKey(
  db: Executor,
  workspaceId: string,
  accountId: string,
  key: { id: string; name: string; prefix: string; secretHash: Buffer; expiresAt: string | null },
): Promise<AccessKey> {
  return (await db.query(insertKey({ workspaceId, accountId, ...key })))[0] as AccessKey
}

const deleted = { id: uuid.notNull }
const deleteKey = statement(
  'workspaces.deleteKey',
  'delete from access_keys where workspace_id = $workspaceId and service_account_id = $accountId and id = $id returning id',
  { params: { workspaceId: uuid, accountId: uuid, id: uuid }, columns: deleted },
)
/** Deletes a key of a service account; false when it has none of this id. */
export async function deleteAccessKey(db: Executor, workspaceId: string, accountId: string, id: string): Promise<boolean> {
  return (await db.query(deleteKey({ workspaceId, accountId, id }))).length > 0
}

const deleteKeyById = statement('workspaces.deleteKeyById', 'delete from access_keys where id = $id returning id', {
  params: { id: uuid },
  columns: deleted,
})
const deleteKeyByHash = statement('workspaces.deleteKeyByHash', 'delete from access_keys where secret_hash = $secretHash returning id', {
  params: { secretHash: bytes },
  columns: deleted,
})

/** Deletes a key of any workspace, for the operator, and returns its id; undefined when it does not exist. */
export async function deleteAccessKeyById(db: Executor, id: string): Promise<string | undefined> {
  return (await db.query(deleteKeyById({ id })))[0]?.id
}
/** Same as `deleteAccessKeyById`, by the hash of the key's secret: for a key that was found in public. */
export async function deleteAccessKeyByHash(db: Executor, secretHash: Buffer): Promise<string | undefined> {
  return (await db.query(deleteKeyByHash({ secretHash })))[0]?.id
}
