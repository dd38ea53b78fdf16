import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A principal that is no person: it holds roles as a member does, and access keys belong to it. */
export interface ServiceAccount {
  readonly id: string
  readonly name: string
  readonly created_at: string
}

const columns = 'id, name, created_at'

const list = sql('list_service_accounts', `select ${columns} from service_accounts where workspace_id = $1 order by created_at, id`)
export const listServiceAccountRows = (db: Executor, workspaceId: string): Promise<ServiceAccount[]> =>
  db.query<ServiceAccount>(list(workspaceId))

const find = sql('find_service_account', `select ${columns} from service_accounts where workspace_id = $1 and id = $2`)
export async function findServiceAccount(db: Executor, workspaceId: string, id: string): Promise<ServiceAccount | undefined> {
  return (await db.query<ServiceAccount>(find(workspaceId, id)))[0]
}

const keep = sql('keep_service_account', 'select id from service_accounts where workspace_id = $1 and id = $2 for key share')
/** Whether the service account exists; it cannot be deleted until the transaction ends. */
export async function lockServiceAccount(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(keep(workspaceId, id))).length > 0
}

const insert = sql(
  'insert_service_account',
  `insert into service_accounts (workspace_id, id, name) values ($1, $2, $3) returning ${columns}`,
)
export async function insertServiceAccount(db: Executor, workspaceId: string, id: string, name: string): Promise<ServiceAccount> {
  return (await db.query<ServiceAccount>(insert(workspaceId, id, name)))[0] as ServiceAccount
}

const remove = sql('delete_service_account', 'delete from service_accounts where workspace_id = $1 and id = $2 returning id')
/** Deletes a service account with its keys and roles; false when there is none. */
export async function deleteServiceAccountRow(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(remove(workspaceId, id))).length > 0
}
