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

export const listAccessKeyRows = statement(
  'workspaces.listAccessKeyRows',
  `select ${list} from access_keys where workspace_id = $workspaceId and service_account_id = $accountId order by created_at, id`,
  { params: { workspaceId: uuid, accountId: uuid }, columns },
)

export const findAccessKey = statement(
  'workspaces.findAccessKey',
  `select ${list} from access_keys where workspace_id = $workspaceId and service_account_id = $accountId and id = $id`,
  { params: { workspaceId: uuid, accountId: uuid, id: uuid }, columns },
)

export const insertAccessKey = statement(
  'workspaces.insertAccessKey',
  `insert into access_keys (workspace_id, id, service_account_id, name, prefix, secret_hash, expires_at)
   values ($workspaceId, $id, $accountId, $name, $prefix, $secretHash, $expiresAt) returning ${list}`,
  {
    params: { workspaceId: uuid, accountId: uuid, id: uuid, name: text, prefix: text, secretHash: bytes, expiresAt: instant.orNull },
    columns,
  },
)
const deleted = { id: uuid.notNull }
/** Deletes a key of a service account; no row when it has none of this id. */
export const deleteAccessKey = statement(
  'workspaces.deleteAccessKey',
  'delete from access_keys where workspace_id = $workspaceId and service_account_id = $accountId and id = $id returning id',
  { params: { workspaceId: uuid, accountId: uuid, id: uuid }, columns: deleted },
)

/** Deletes a key of any workspace, for the operator; no row when it does not exist. */
export const deleteKeyById = statement('workspaces.deleteKeyById', 'delete from access_keys where id = $id returning id', {
  params: { id: uuid },
  columns: deleted,
})

/** Same as `deleteKeyById`, by the hash of the key's secret: for a key that was found in public. */
export const deleteKeyByHash = statement(
  'workspaces.deleteKeyByHash',
  'delete from access_keys where secret_hash = $secretHash returning id',
  { params: { secretHash: bytes }, columns: deleted },
)
