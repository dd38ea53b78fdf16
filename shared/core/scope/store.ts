import type { SourcedRule } from '#shared/core/policy/evaluate.ts'
import {
  boolean,
  date,
  instant,
  integer,
  json,
  jsonb,
  type RowOf,
  selectList,
  text,
  uuid,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { type AppName, apps } from '#shared/platform/kernel/apps.ts'

/** A role with the rules of its policy. */
export interface RoleWithPolicy {
  readonly id: string
  readonly name: string
  readonly policy: readonly SourcedRule[]
}

/** A member or service account with its roles. */
export const findActorRow = statement(
  'scope.findActorRow',
  `select who.type, who.name, who.owner,
     coalesce((
       select json_agg(json_build_object('id', role.id, 'name', role.name, 'policy', role.policy) order by role.id)
       from role_members as held
       join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id
       where held.workspace_id = $workspaceId and held.principal_id = $principalId and not role.is_anonymous
     ), '[]') as roles
   from (
     select 'user' as type, person.name, workspace.owner_id = person.id as owner
     from members as member
     join users as person on person.id = member.user_id
     join workspaces as workspace on workspace.id = member.workspace_id
     where member.workspace_id = $workspaceId and member.user_id = $principalId
     union all
     select 'service', account.name, false
     from service_accounts as account
     where account.workspace_id = $workspaceId and account.id = $principalId
   ) as who`,
  {
    params: { workspaceId: uuid, principalId: uuid },
    columns: {
      type: text.as<'user' | 'service'>().notNull,
      name: text.notNull,
      owner: boolean.notNull,
      roles: json.as<readonly RoleWithPolicy[]>().notNull,
    },
  },
)

/** The roles of visitors. */
export const findVisitorRoles = statement(
  'scope.findVisitorRoles',
  'select id, name, policy from roles where workspace_id = $workspaceId and is_anonymous order by id',
  { params: { workspaceId: uuid }, columns: { id: uuid.notNull, name: text.notNull, policy: jsonb.as<readonly SourcedRule[]>().notNull } },
)

/** Settings of a workspace (docs/contract/access.md#workspace-settings). */
export const workspaceColumns = {
  id: uuid.notNull,
  name: text.notNull,
  status: text.as<'provisioning' | 'active' | 'suspended'>().notNull,
  plan: text.as<'free' | 'paid'>().notNull,
  owner_id: uuid.notNull,
  /** `#rrggbb` colour of the workspace's pages, or null. */
  color: text,
  /** Path of an asset file shown as the logo on the workspace's pages, or null. */
  logo: text,
  default_currency: text.notNull,
  timezone: text.notNull,
  apps: jsonb.as<Readonly<Record<AppName, boolean>>>().notNull,
  multi_currency: boolean.notNull,
  /** Last closed day, YYYY-MM-DD: nothing can be posted on it or before. Null while no book is closed. */
  books_closed_through: date,
  created_at: instant.notNull,
}
export type Workspace = RowOf<typeof workspaceColumns>

const allOn = JSON.stringify(Object.fromEntries(apps.map((app) => [app, true])))

/** The select list of a workspace's settings; `of` is the table or its alias. An app without a stored flag is on. */
export const selectSettings = (of: string): string => selectList(workspaceColumns, of, { apps: `'${allOn}'::jsonb || ${of}.apps` })

const enteredColumns = {
  ...workspaceColumns,
  /** Workspaces with the same share together get what one workspace may have while others wait: those of one owner. */
  share_id: uuid.notNull,
}
/** A workspace in which work happens. `share_id` is not for callers. */
export type EnteredWorkspace = RowOf<typeof enteredColumns>

const enteredList = `${selectSettings('workspaces')}, share_id`

/** One workspace's settings. */
export const findWorkspace = statement('scope.findWorkspace', `select ${enteredList} from workspaces where id = $id`, {
  params: { id: uuid },
  columns: enteredColumns,
})

/** Ids of the workspaces of a share, at most `most`. */
export const findShareMembers = statement(
  'scope.findShareMembers',
  'select id from workspaces where share_id = $shareId order by id limit $most::integer',
  { params: { shareId: uuid, most: integer }, columns: { id: uuid.notNull } },
)

/** One workspace's settings; its row is locked until the transaction ends. */
export const lockWorkspace = statement('scope.lockWorkspace', `select ${enteredList} from workspaces where id = $id for no key update`, {
  params: { id: uuid },
  columns: enteredColumns,
})
