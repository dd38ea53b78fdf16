import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import { bigint, boolean, instant, jsonb, type RowOf, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  name: text.notNull,
  description: text.notNull,
  policy: jsonb.as<readonly PolicyRule[]>().notNull,
  /** Whether it applies to visitors, who are not signed in. Such a role has no holders. */
  is_anonymous: boolean.notNull,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
/** A named set of rules that members and service accounts hold (docs/contract/access.md#roles). */
export type Role = RowOf<typeof columns>
const list = selectList(columns)

export const listRoleRows = statement('roles.listRoleRows', `select ${list} from roles where workspace_id = $workspaceId order by id`, {
  params: { workspaceId: uuid },
  columns,
})

/** A page of roles, oldest first. */
export const findRolePage = creationPage('roles.findRolePage', `select ${list} from roles where workspace_id = $workspaceId`, {
  params: { workspaceId: uuid },
  columns,
})

const one = { params: { workspaceId: uuid, id: uuid }, columns }

export const findRole = statement('roles.findRole', `select ${list} from roles where workspace_id = $workspaceId and id = $id`, one)

/** Reads and locks a role: until the transaction ends, no other transaction can change, delete or assign it. */
export const lockRole = statement(
  'roles.lockRole',
  `select ${list} from roles where workspace_id = $workspaceId and id = $id for update`,
  one,
)

/** The existing ones among these roles, with a shared lock: until the transaction ends, no other transaction can change or delete them. */
export const lockRolesShared = statement(
  'roles.lockRolesShared',
  `select ${list} from roles where workspace_id = $workspaceId and id = any($ids) order by id for share`,
  { params: { workspaceId: uuid, ids: uuids }, columns },
)

const written = { workspaceId: uuid, id: uuid, name: text, description: text, policy: jsonb, isAnonymous: boolean }
const insertRoleRow = statement(
  'roles.insertRoleRow',
  `insert into roles (workspace_id, id, name, description, policy, is_anonymous)
   values ($workspaceId, $id, $name, $description, $policy, $isAnonymous) returning ${list}`,
  { params: written, columns },
)
const updateRoleRow = statement(
  'roles.updateRoleRow',
  `update roles set name = $name, description = $description, policy = $policy, is_anonymous = $isAnonymous, updated_at = now()
   where workspace_id = $workspaceId and id = $id returning ${list}`,
  { params: written, columns },
)
type WrittenRole = Pick<Role, 'name' | 'description' | 'policy' | 'is_anonymous'>
const valuesOf = ({ name, description, policy, is_anonymous }: WrittenRole) => ({
  name,
  description,
  policy: JSON.stringify(policy),
  isAnonymous: is_anonymous,
})

export async function insertRole(db: Executor, workspaceId: string, id: string, role: WrittenRole): Promise<Role> {
  return (await db.query(insertRoleRow({ workspaceId, id, ...valuesOf(role) })))[0] as Role
}
export async function updateRole(db: Executor, workspaceId: string, id: string, role: WrittenRole): Promise<Role> {
  return (await db.query(updateRoleRow({ workspaceId, id, ...valuesOf(role) })))[0] as Role
}

export const deleteRoleRow = statement('roles.deleteRoleRow', 'delete from roles where workspace_id = $workspaceId and id = $id', {
  params: { workspaceId: uuid, id: uuid },
})

const principalColumns = { id: uuid.notNull, type: text.as<'user' | 'service'>().notNull, name: text.notNull }

/** A person or service account. */
export type NamedPrincipal = RowOf<typeof principalColumns>

export const listHolders = statement(
  'roles.listHolders',
  `select who.id, who.type, who.name
   from role_members as held
   join (
     select member.user_id as id, 'user' as type, person.name
     from members as member join users as person on person.id = member.user_id
     where member.workspace_id = $workspaceId
     union all
     select id, 'service', name from service_accounts where workspace_id = $workspaceId
   ) as who on who.id = held.principal_id
   where held.workspace_id = $workspaceId and held.role_id = $roleId
   order by held.created_at, who.id`,
  { params: { workspaceId: uuid, roleId: uuid }, columns: principalColumns },
)

/**
 * Gives roles to a member or service account, in addition to the roles that it holds. `given` is how many of them it did not hold; no row when
 * there is no such principal.
 *
 * Locks the member or account (`for share`). A concurrent removal waits for the lock, and the trigger of the removal then deletes the new
 * rows too. A row left behind would be valid again if the person joined again.
 */
export const giveRoles = statement(
  'roles.giveRoles',
  `with person as (select user_id as id from members where workspace_id = $workspaceId and user_id = $principalId for share),
     account as (select id from service_accounts where workspace_id = $workspaceId and id = $principalId for share),
     principal as (select id from person union all select id from account),
     given as (
       insert into role_members (workspace_id, role_id, principal_id)
       select $workspaceId, role_id, principal.id from principal cross join unnest($roleIds::uuid[]) as role_id
       on conflict do nothing returning role_id
     )
   select (select count(*) from given) as given from principal`,
  { params: { workspaceId: uuid, principalId: uuid, roleIds: uuids }, columns: { given: bigint.notNull } },
)
/** Takes a role from a principal; no row when the principal does not hold it. */
export const takeRole = statement(
  'roles.takeRole',
  `delete from role_members where workspace_id = $workspaceId and role_id = $roleId and principal_id = $principalId
   returning principal_id`,
  { params: { workspaceId: uuid, roleId: uuid, principalId: uuid }, columns: { principal_id: uuid.notNull } },
)

export const takeRoleFromAll = statement(
  'roles.takeRoleFromAll',
  'delete from role_members where workspace_id = $workspaceId and role_id = $roleId',
  { params: { workspaceId: uuid, roleId: uuid } },
)

/** A principal that holds a role. */
export const findRoleHolder = statement(
  'roles.findRoleHolder',
  'select principal_id from role_members where workspace_id = $workspaceId and role_id = $roleId limit 1',
  { params: { workspaceId: uuid, roleId: uuid }, columns: { principal_id: uuid.notNull } },
)

const membersWithRoles = { user_id: uuid.notNull, owner: boolean.notNull, role_ids: uuids.notNull }
export type MemberWithRoles = RowOf<typeof membersWithRoles>

/** The members with the ids of their roles. */
export const findMembersWithRoles = statement(
  'roles.findMembersWithRoles',
  `select member.user_id, workspace.owner_id = member.user_id as owner,
     coalesce(array_agg(role.id order by role.id) filter (where role.id is not null), '{}') as role_ids
   from members as member
   join workspaces as workspace on workspace.id = member.workspace_id
   left join role_members as held on held.workspace_id = member.workspace_id and held.principal_id = member.user_id
   left join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id and not role.is_anonymous
   where member.workspace_id = $workspaceId
   group by member.user_id, workspace.owner_id
   order by member.user_id`,
  { params: { workspaceId: uuid }, columns: membersWithRoles },
)

/** The policies of roles that members may hold. */
export const findPolicies = statement(
  'roles.findPolicies',
  'select id, policy from roles where workspace_id = $workspaceId and not is_anonymous order by id',
  { params: { workspaceId: uuid }, columns: { id: uuid.notNull, policy: columns.policy } },
)
