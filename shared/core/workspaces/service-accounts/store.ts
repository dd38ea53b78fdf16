import type { Executor } from '#shared/platform/db/database.ts'
import { instant, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = { id: uuid.notNull, name: text.notNull, created_at: instant.notNull }
const list = selectList(columns)

/** A principal that is no person: it holds roles as a member does, and access keys belong to it. */
export type ServiceAccount = RowOf<typeof columns>

const listAccounts = statement(
  'workspaces.listAccounts',
  `select ${list} from service_accounts where workspace_id = $workspaceId order by created_at, id`,
  { params: { workspaceId: uuid }, columns },
)
export const listServiceAccountRows = (db: Executor, workspaceId: string): Promise<ServiceAccount[]> =>
  db.query(listAccounts({ workspaceId }))

const selectAccount = statement(
  'workspaces.selectAccount',
  `select ${list} from service_accounts where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)
export async function findServiceAccount(db: Executor, workspaceId: string, id: string): Promise<ServiceAccount | undefined> {
  return (await db.query(selectAccount({ workspaceId, id })))[0]
}

const lockAccount = statement(
  'workspaces.lockAccount',
  'select id from service_accounts where workspace_id = $workspaceId and id = $id for key share',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)
/** Whether the service account exists; it cannot be deleted until the transaction ends. */
export async function lockServiceAccount(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(lockAccount({ workspaceId, id }))).length > 0
}

const insertAccount = statement(
  'workspaces.insertAccount',
  `insert into service_accounts (workspace_id, id, name) values ($workspaceId, $id, $name) returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, name: text }, columns },
)
export async function insertServiceAccount(db: Executor, workspaceId: string, id: string, name: string): Promise<ServiceAccount> {
  return (await db.query(insertAccount({ workspaceId, id, name })))[0] as ServiceAccount
}

const deleteAccount = statement(
  'workspaces.deleteAccount',
  `with gone as (delete from service_accounts where workspace_id = $workspaceId and id = $id returning id),
     uninvited as (delete from invitations where workspace_id = $workspaceId and invited_by in (select id from gone))
   select id from gone`,
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)
/** Deletes a service account with its keys, its roles and the invitations that it sent; false when there is none. */
export async function deleteServiceAccountRow(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(deleteAccount({ workspaceId, id }))).length > 0
}
