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

const listAllRoles = statement('roles.listAllRoles', `select ${list} from roles where workspace_id = $workspaceId order by id`, {
  params: { workspaceId: uuid },
  columns,
})
export const listRoleRows = (db: Executor, workspaceId: string): Promise<Role[]> => db.query(listAllRoles({ workspaceId }))

/** A page of roles, oldest first. */
export const findRolePage = creationPage('roles.findRolePage', `select ${list} from roles where workspace_id = $workspaceId`, {
  params: { workspaceId: uuid },
  columns,
})

const one = { params: { workspaceId: uuid, id: uuid }, columns }

const selectRole = statement('roles.selectRole', `select ${list} from roles where workspace_id = $workspaceId and id = $id`, one)
export async function findRole(db: Executor, workspaceId: string, id: string): Promise<Role | undefined> {
  return (await db.query(selectRole({ workspaceId, id })))[0]
}

const selectRoleForUpdate = statement(
  'roles.selectRoleForUpdate',
  `select ${list} from roles where workspace_id = $workspaceId and id = $id for update`,
  one,
)
/** Reads and locks a role: until the transaction ends, no other transaction can change, delete or assign it. */
export async function lockRole(db: Executor, workspaceId: string, id: string): Promise<Role | undefined> {
  return (await db.query(selectRoleForUpdate({ workspaceId, id })))[0]
}

const selectRolesForShare = statement(
  'roles.selectRolesForShare',
  `select ${list} from roles where workspace_id = $workspaceId and id = any($ids) order by id for share`,
  { params: { workspaceId: uuid, ids: uuids }, columns },
)
/** The existing ones among these roles, with a shared lock: until the transaction ends, no other transaction can change or delete them. */
export const lockRolesShared = (db: Executor, workspaceId: string, ids: readonly string[]): Promise<Role[]> =>
  db.query(selectRolesForShare({ workspaceId, ids }))

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

const deleteRole = statement('roles.deleteRole', 'delete from roles where workspace_id = $workspaceId and id = $id', {
  params: { workspaceId: uuid, id: uuid },
})
export async function deleteRoleRow(db: Executor, workspaceId: string, id: string): Promise<void> {
  await db.query(deleteRole({ workspaceId, id }))
}

const principalColumns = { id: uuid.notNull, type: text.as<'user' | 'service'>().notNull, name: text.notNull }

/** A person or service account. */
export type NamedPrincipal = RowOf<typeof principalColumns>

const listRoleHolders = statement(
  'roles.listRoleHolders',
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
export const listHolders = (db: Executor, workspaceId: string, roleId: string): Promise<NamedPrincipal[]> =>
  db.query(listRoleHolders({ workspaceId, roleId }))

// Locks the member or account (`for share`). A concurrent removal waits for the lock, and the trigger of the removal then deletes the new
// rows too. A row left behind would be valid again if the person joined again.
const insertRoleMembers = statement(
  'roles.insertRoleMembers',
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
/**
 * Gives roles to a member or service account, in addition to the roles that it holds. Returns how many of them it did not hold; undefined when
 * there is no such principal.
 */
export async function giveRoles(
  db: Executor,
  workspaceId: string,
  principalId: string,
  roleIds: readonly string[],
): Promise<number | undefined> {
  return (await db.query(insertRoleMembers({ workspaceId, principalId, roleIds })))[0]?.given
}

const deleteRoleMember = statement(
  'roles.deleteRoleMember',
  `delete from role_members where workspace_id = $workspaceId and role_id = $roleId and principal_id = $principalId
   returning principal_id`,
  { params: { workspaceId: uuid, roleId: uuid, principalId: uuid }, columns: { principal_id: uuid.notNull } },
)
/** Takes a role from a principal; false when the principal does not hold it. */
export async function takeRole(db: Executor, workspaceId: string, roleId: string, principalId: string): Promise<boolean> {
  return (await db.query(deleteRoleMember({ workspaceId, roleId, principalId }))).length > 0
}

const deleteRoleMembers = statement(
  'roles.deleteRoleMembers',
  'delete from role_members where workspace_id = $workspaceId and role_id = $roleId',
  { params: { workspaceId: uuid, roleId: uuid } },
)
export async function takeRoleFromAll(db: Executor, workspaceId: string, roleId: string): Promise<void> {
  await db.query(deleteRoleMembers({ workspaceId, roleId }))
}

const hasRoleMember = statement(
  'roles.hasRoleMember',
  'select exists (select from role_members where workspace_id = $workspaceId and role_id = $roleId) as held',
  { params: { workspaceId: uuid, roleId: uuid }, columns: { held: boolean.notNull } },
)
export async function isRoleHeld(db: Executor, workspaceId: string, roleId: string): Promise<boolean> {
  return (await db.query(hasRoleMember({ workspaceId, roleId })))[0]?.held ?? false
}

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
