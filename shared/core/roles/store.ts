import type { Role } from '#shared/core/roles/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const columns = 'id, name, description, policy, is_anonymous, created_at, updated_at'

const list = sql('list_roles', `select ${columns} from roles where workspace_id = $1 order by id`)
export const listRoleRows = (db: Executor, workspaceId: string): Promise<Role[]> => db.query<Role>(list(workspaceId))

/** Roles, oldest first. Values: workspace, instant and id to go on after, how many. */
export const findRolePage = creationPageSql('list_role_page', `select ${columns} from roles where workspace_id = $1`, 1)

const find = sql('find_role', `select ${columns} from roles where workspace_id = $1 and id = $2`)
export async function findRole(db: Executor, workspaceId: string, id: string): Promise<Role | undefined> {
  return (await db.query<Role>(find(workspaceId, id)))[0]
}

const lock = sql('lock_role', `select ${columns} from roles where workspace_id = $1 and id = $2 for update`)
/** Reads and locks a role: until the transaction ends, no other transaction can change, delete or assign it. */
export async function lockRole(db: Executor, workspaceId: string, id: string): Promise<Role | undefined> {
  return (await db.query<Role>(lock(workspaceId, id)))[0]
}

const keep = sql('keep_roles', `select ${columns} from roles where workspace_id = $1 and id = any($2) order by id for share`)
/** The existing ones among these roles, with a shared lock: until the transaction ends, no other transaction can change or delete them. */
export const lockRolesShared = (db: Executor, workspaceId: string, ids: readonly string[]): Promise<Role[]> =>
  db.query<Role>(keep(workspaceId, ids))

const insert = sql(
  'insert_role',
  `insert into roles (workspace_id, id, name, description, policy, is_anonymous) values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
)
const update = sql(
  'update_role',
  `update roles set name = $3, description = $4, policy = $5, is_anonymous = $6, updated_at = now()
   where workspace_id = $1 and id = $2 returning ${columns}`,
)
type Written = Pick<Role, 'name' | 'description' | 'policy' | 'is_anonymous'>
const written = (role: Written) => [role.name, role.description, JSON.stringify(role.policy), role.is_anonymous]

export async function insertRole(db: Executor, workspaceId: string, id: string, role: Written): Promise<Role> {
  return (await db.query<Role>(insert(workspaceId, id, ...written(role))))[0] as Role
}
export async function updateRole(db: Executor, workspaceId: string, id: string, role: Written): Promise<Role> {
  return (await db.query<Role>(update(workspaceId, id, ...written(role))))[0] as Role
}

const remove = sql('delete_role', 'delete from roles where workspace_id = $1 and id = $2')
export async function deleteRoleRow(db: Executor, workspaceId: string, id: string): Promise<void> {
  await db.query(remove(workspaceId, id))
}

/** A person or service account. */
export interface NamedPrincipal {
  readonly id: string
  readonly type: 'user' | 'service'
  readonly name: string
}

const holders = sql(
  'list_role_holders',
  `select who.id, who.type, who.name
   from role_members as held
   join (
     select member.user_id as id, 'user' as type, person.name
     from members as member join users as person on person.id = member.user_id
     where member.workspace_id = $1
     union all
     select id, 'service', name from service_accounts where workspace_id = $1
   ) as who on who.id = held.principal_id
   where held.workspace_id = $1 and held.role_id = $2
   order by held.created_at, who.id`,
)
export const listHolders = (db: Executor, workspaceId: string, roleId: string): Promise<NamedPrincipal[]> =>
  db.query<NamedPrincipal>(holders(workspaceId, roleId))

// Locks the member or account (`for share`). A concurrent removal waits for the lock, and the trigger of the removal then deletes the new
// rows too. A row left behind would be valid again if the person joined again.
const give = sql(
  'give_roles',
  `with person as (select user_id as id from members where workspace_id = $1 and user_id = $2 for share),
     account as (select id from service_accounts where workspace_id = $1 and id = $2 for share),
     principal as (select id from person union all select id from account),
     given as (
       insert into role_members (workspace_id, role_id, principal_id)
       select $1, role_id, principal.id from principal cross join unnest($3::uuid[]) as role_id
       on conflict do nothing
     )
   select id from principal`,
)
/** Gives roles to a member or service account, in addition to the roles that it holds. False when there is no such principal. */
export async function giveRoles(db: Executor, workspaceId: string, principalId: string, roleIds: readonly string[]): Promise<boolean> {
  return (await db.query(give(workspaceId, principalId, roleIds))).length > 0
}

const take = sql(
  'take_role',
  'delete from role_members where workspace_id = $1 and role_id = $2 and principal_id = $3 returning principal_id',
)
/** Takes a role from a principal; false when the principal does not hold it. */
export async function takeRole(db: Executor, workspaceId: string, roleId: string, principalId: string): Promise<boolean> {
  return (await db.query(take(workspaceId, roleId, principalId))).length > 0
}

const takeAll = sql('take_role_from_all', 'delete from role_members where workspace_id = $1 and role_id = $2')
export async function takeRoleFromAll(db: Executor, workspaceId: string, roleId: string): Promise<void> {
  await db.query(takeAll(workspaceId, roleId))
}

const held = sql('is_role_held', 'select exists (select from role_members where workspace_id = $1 and role_id = $2) as held')
export async function isRoleHeld(db: Executor, workspaceId: string, roleId: string): Promise<boolean> {
  return (await db.query<{ held: boolean }>(held(workspaceId, roleId)))[0]?.held ?? false
}

/** The members with the ids of their roles. Values: workspace. */
export const findMembersWithRoles = sql(
  'find_members_with_roles',
  `select member.user_id, workspace.owner_id = member.user_id as owner,
     coalesce(array_agg(role.id order by role.id) filter (where role.id is not null), '{}') as role_ids
   from members as member
   join workspaces as workspace on workspace.id = member.workspace_id
   left join role_members as held on held.workspace_id = member.workspace_id and held.principal_id = member.user_id
   left join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id and not role.is_anonymous
   where member.workspace_id = $1
   group by member.user_id, workspace.owner_id
   order by member.user_id`,
)

/** The policies of roles that members may hold. Values: workspace. */
export const findPolicies = sql('find_policies', 'select id, policy from roles where workspace_id = $1 and not is_anonymous order by id')
