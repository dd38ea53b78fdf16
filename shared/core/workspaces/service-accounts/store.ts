import { instant, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = { id: uuid.notNull, name: text.notNull, created_at: instant.notNull }
const list = selectList(columns)

/** A principal that is no person: it holds roles as a member does, and access keys belong to it. */
export type ServiceAccount = RowOf<typeof columns>

export const listServiceAccountRows = statement(
  'workspaces.listServiceAccountRows',
  `select ${list} from service_accounts where workspace_id = $workspaceId order by created_at, id`,
  { params: { workspaceId: uuid }, columns },
)

export const findServiceAccount = statement(
  'workspaces.findServiceAccount',
  `select ${list} from service_accounts where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** A service account, which cannot be deleted until the transaction ends. */
export const lockServiceAccount = statement(
  'workspaces.lockServiceAccount',
  'select id from service_accounts where workspace_id = $workspaceId and id = $id for key share',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

export const insertServiceAccount = statement(
  'workspaces.insertServiceAccount',
  `insert into service_accounts (workspace_id, id, name) values ($workspaceId, $id, $name) returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, name: text }, columns },
)
/** Deletes a service account with its keys, its roles and the invitations that it sent; no row when there is none. */
export const deleteServiceAccountRow = statement(
  'workspaces.deleteServiceAccountRow',
  `with gone as (delete from service_accounts where workspace_id = $workspaceId and id = $id returning id),
     uninvited as (delete from invitations where workspace_id = $workspaceId and invited_by in (select id from gone))
   select id from gone`,
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)
