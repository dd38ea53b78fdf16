import { sql } from '#shared/platform/db/statements/statement.ts'

/** A member or service account with its roles. Values: workspace, principal. */
export const findActorRow = sql(
  'find_actor',
  `select who.type, who.name, who.owner,
     coalesce((
       select json_agg(json_build_object('id', role.id, 'name', role.name, 'policy', role.policy) order by role.id)
       from role_members as held
       join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id
       where held.workspace_id = $1 and held.principal_id = $2 and not role.is_anonymous
     ), '[]') as roles
   from (
     select 'user' as type, person.name, workspace.owner_id = person.id as owner
     from members as member
     join users as person on person.id = member.user_id
     join workspaces as workspace on workspace.id = member.workspace_id
     where member.workspace_id = $1 and member.user_id = $2
     union all
     select 'service', account.name, false
     from service_accounts as account
     where account.workspace_id = $1 and account.id = $2
   ) as who`,
)

/** The roles of visitors. Values: workspace. */
export const findVisitorRoles = sql(
  'visitor_roles',
  'select id, name, policy from roles where workspace_id = $1 and is_anonymous order by id',
)

/** The columns of a workspace, in the order of `Workspace`. */
export const workspaceColumns =
  'id, name, status, plan, owner_id, color, logo, default_currency, timezone, apps, multi_currency, books_closed_through, created_at'

/** One workspace's settings. Values: id. */
export const findWorkspaceRow = sql('find_workspace', `select ${workspaceColumns} from workspaces where id = $1`)

/** Locks a workspace and reads it. Values: id. */
export const lockWorkspaceRow = sql('lock_workspace', `select ${workspaceColumns} from workspaces where id = $1 for no key update`)
