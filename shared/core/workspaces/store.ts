import { selectSettings, type Workspace, workspaceColumns } from '#shared/core/scope/store.ts'
import type { WorkspaceChanges } from '#shared/core/workspaces/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { boolean, date, jsonb, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  workspaces_books_currency: [
    'VALIDATION_ERROR',
    'default_currency cannot change once an entry is posted: switch multi_currency on, and every entry has its own currency',
  ],
})

const list = selectSettings('workspaces')

/** Stores a new workspace and makes its owner the first member. */
export const insertWorkspace = statement(
  'workspaces.insertWorkspace',
  `with workspace as (insert into workspaces (id, name, plan, owner_id) values ($id, $name, $plan, $ownerId) returning ${list}),
     owner as (insert into members (workspace_id, user_id) select id, owner_id from workspace)
   select ${selectSettings('workspace')} from workspace`,
  { params: { id: uuid, name: text, plan: text, ownerId: uuid }, columns: workspaceColumns },
)

/** The workspaces that a person is a member of, oldest first. */
export const listWorkspacesOf = statement(
  'workspaces.listWorkspacesOf',
  `select ${selectSettings('workspace')}
   from members as member join workspaces as workspace on workspace.id = member.workspace_id
   where member.user_id = $userId order by workspace.created_at, workspace.id`,
  { params: { userId: uuid }, columns: workspaceColumns },
)

const findIdsByName = statement('workspaces.findIdsByName', 'select id from workspaces where name = $name order by created_at, id', {
  params: { name: text },
  columns: { id: uuid.notNull },
})
/** The ids of the workspaces of this name, oldest first. */
export const findWorkspaceIds = async (db: Executor, name: string): Promise<string[]> =>
  (await db.query(findIdsByName({ name }))).map(({ id }) => id)

const updateWorkspace = statement(
  'workspaces.updateWorkspace',
  `update workspaces
   set name = coalesce($name, name), default_currency = coalesce($defaultCurrency, default_currency),
     timezone = coalesce($timezone, timezone), apps = apps || coalesce($apps::jsonb, '{}'),
     multi_currency = multi_currency or coalesce($multiCurrency::boolean, false),
     books_closed_through = case when $hasClosedThrough::boolean then $closedThrough::date else books_closed_through end,
     color = case when $hasColor::boolean then $color else color end, logo = case when $hasLogo::boolean then $logo else logo end
   where id = $id and (not multi_currency or $multiCurrency::boolean is not false)
   returning ${list}`,
  {
    params: {
      id: uuid,
      name: text.orNull,
      defaultCurrency: text.orNull,
      timezone: text.orNull,
      apps: jsonb.orNull,
      multiCurrency: boolean.orNull,
      hasClosedThrough: boolean,
      closedThrough: date.orNull,
      hasColor: boolean,
      color: text.orNull,
      hasLogo: boolean,
      logo: text.orNull,
    },
    columns: workspaceColumns,
  },
)
/**
 * Changes only the given settings, so that concurrent changes of different settings do not undo each other; undefined when the change would
 * switch multi_currency off.
 */
export async function changeWorkspace(db: Executor, id: string, changes: WorkspaceChanges): Promise<Workspace | undefined> {
  const { name, default_currency, timezone, apps, multi_currency, color, logo, books_closed_through } = changes
  const [changed] = await db.query(
    updateWorkspace({
      id,
      name,
      defaultCurrency: default_currency,
      timezone,
      apps: apps && JSON.stringify(apps),
      multiCurrency: multi_currency,
      hasClosedThrough: books_closed_through !== undefined,
      closedThrough: books_closed_through,
      hasColor: color !== undefined,
      color,
      hasLogo: logo !== undefined,
      logo,
    }),
  )
  return changed
}

/** Moves a workspace from one status to another; no row when its status was not `from`. */
export const changeWorkspaceStatus = statement(
  'workspaces.changeWorkspaceStatus',
  'update workspaces set status = $to where id = $id and status = $from and deleting_at is null returning id',
  { params: { id: uuid, from: text, to: text }, columns: { id: uuid.notNull } },
)

export const setWorkspacePlan = statement('workspaces.setWorkspacePlan', 'update workspaces set plan = $plan where id = $id returning id', {
  params: { id: uuid, plan: text },
  columns: { id: uuid.notNull },
})

/** One of the workspaces that the database holds. */
export const findAnyWorkspace = statement('workspaces.findAnyWorkspace', 'select id from workspaces limit 1', {
  params: {},
  columns: { id: uuid.notNull },
})

/** Blocks other transactions from creating or changing workspaces until this one ends. */
export const lockWorkspaces = statement('workspaces.lockWorkspaces', 'lock table workspaces in share row exclusive mode', { params: {} })
