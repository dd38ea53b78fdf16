import { workspaceColumns } from '#shared/core/scope/store.ts'
import type { Workspace } from '#shared/core/scope/workspace.ts'
import type { WorkspaceChanges } from '#shared/core/workspaces/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  workspaces_books_currency: [
    'VALIDATION_ERROR',
    'default_currency cannot change once an entry is posted: switch multi_currency on, and every entry has its own currency',
  ],
})

const insert = sql(
  'insert_workspace',
  `with workspace as (insert into workspaces (id, name, plan, owner_id) values ($1, $2, $3, $4) returning ${workspaceColumns}),
     owner as (insert into members (workspace_id, user_id) select id, owner_id from workspace)
   select ${workspaceColumns} from workspace`,
)
/** Stores a new workspace and makes its owner the first member. */
export async function insertWorkspace(
  db: Executor,
  { id, name, plan, owner_id }: Pick<Workspace, 'id' | 'name' | 'plan' | 'owner_id'>,
): Promise<Workspace> {
  return (await db.query<Workspace>(insert(id, name, plan, owner_id)))[0] as Workspace
}

const columns = workspaceColumns.replaceAll(/\w+/g, 'workspace.$&')
const mine = sql(
  'list_my_workspaces',
  `select ${columns} from members as member join workspaces as workspace on workspace.id = member.workspace_id
   where member.user_id = $1 order by workspace.created_at, workspace.id`,
)
/** The workspaces that a person is a member of, oldest first. */
export const listWorkspacesOf = (db: Executor, userId: string): Promise<Workspace[]> => db.query<Workspace>(mine(userId))

const change = sql(
  'change_workspace',
  `update workspaces
   set name = coalesce($2, name), default_currency = coalesce($3, default_currency), timezone = coalesce($4, timezone),
     apps = apps || coalesce($5::jsonb, '{}'), multi_currency = multi_currency or coalesce($6::boolean, false),
     books_closed_through = case when $7::boolean then $8::date else books_closed_through end,
     color = case when $9::boolean then $10 else color end, logo = case when $11::boolean then $12 else logo end
   where id = $1 and (not multi_currency or $6::boolean is not false)
   returning ${workspaceColumns}`,
)
/**
 * Changes only the given settings, so that concurrent changes of different settings do not undo each other; undefined when the change would
 * switch multi_currency off.
 */
export async function changeWorkspace(db: Executor, id: string, changes: WorkspaceChanges): Promise<Workspace | undefined> {
  const { name, default_currency, timezone, apps, multi_currency, color, logo, books_closed_through: closed } = changes
  const statement = change(
    ...[id, name, default_currency, timezone, apps && JSON.stringify(apps), multi_currency],
    ...[closed !== undefined, closed ?? null, color !== undefined, color ?? null, logo !== undefined, logo ?? null],
  )
  return (await db.query<Workspace>(statement))[0]
}

const setStatus = sql('set_workspace_status', 'update workspaces set status = $3 where id = $1 and status = $2 returning id')
/** Moves a workspace from one status to another; false when its status was not `from`. */
export async function changeWorkspaceStatus(
  db: Executor,
  id: string,
  from: Workspace['status'],
  to: Workspace['status'],
): Promise<boolean> {
  return (await db.query(setStatus(id, from, to))).length > 0
}

const setPlanOf = sql('set_workspace_plan', 'update workspaces set plan = $2 where id = $1 returning id')
export async function setWorkspacePlan(db: Executor, id: string, plan: Workspace['plan']): Promise<boolean> {
  return (await db.query(setPlanOf(id, plan))).length > 0
}

const any = sql('is_any_workspace', 'select exists (select from workspaces) as known')
/** Whether the database holds any workspace at all. */
export async function hasWorkspaces(db: Executor): Promise<boolean> {
  return (await db.query<{ known: boolean }>(any()))[0]?.known ?? false
}

const lockAll = sql('lock_workspaces', 'lock table workspaces in share row exclusive mode')
/** Blocks other transactions from creating or changing workspaces until this one ends. */
export async function lockWorkspaces(db: Executor): Promise<void> {
  await db.query(lockAll())
}
