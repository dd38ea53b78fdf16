import type { RoleName } from '#shared/core/roles/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, instant, integer, json, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  type: text.as<'user'>().notNull,
  name: text.notNull,
  email: text.notNull,
  owner: boolean.notNull,
  created_at: instant.notNull,
  roles: json.as<readonly RoleName[]>().notNull,
}

/** A person of a workspace with the roles that it holds there. */
export type Member = RowOf<typeof columns>

const members = `
  select person.id, 'user' as type, person.name, person.email, workspace.owner_id = person.id as owner, member.created_at,
    coalesce((
      select json_agg(json_build_object('id', role.id, 'name', role.name) order by role.id)
      from role_members as held join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id
      where held.workspace_id = member.workspace_id and held.principal_id = member.user_id and not role.is_anonymous
    ), '[]') as roles
  from members as member
  join users as person on person.id = member.user_id
  join workspaces as workspace on workspace.id = member.workspace_id
  where member.workspace_id = $workspaceId`

export const listMemberRows = statement('workspaces.listMemberRows', `${members} order by member.created_at, person.id`, {
  params: { workspaceId: uuid },
  columns,
})

export const findMember = statement('workspaces.findMember', `${members} and member.user_id = $userId`, {
  params: { workspaceId: uuid, userId: uuid },
  columns,
})

export const findMemberByEmail = statement(
  'workspaces.findMemberByEmail',
  `select user_id from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $workspaceId and lower(person.email) = lower($email)`,
  { params: { workspaceId: uuid, email: text }, columns: { user_id: uuid.notNull } },
)

/** Makes a person a member; no row if it is one already. */
export const insertMember = statement(
  'workspaces.insertMember',
  'insert into members (workspace_id, user_id) values ($workspaceId, $userId) on conflict do nothing returning user_id',
  { params: { workspaceId: uuid, userId: uuid }, columns: { user_id: uuid.notNull } },
)

// Also deletes the invitations that the member sent: otherwise it could come back by an invitation to another of its addresses.
/** Removes a person from a workspace, with its roles and the invitations that it sent; no row when it is no member. */
export const deleteMember = statement(
  'workspaces.deleteMember',
  `with gone as (delete from members where workspace_id = $workspaceId and user_id = $userId returning user_id),
     uninvited as (delete from invitations where workspace_id = $workspaceId and invited_by in (select user_id from gone))
   select user_id from gone`,
  { params: { workspaceId: uuid, userId: uuid }, columns: { user_id: uuid.notNull } },
)

const countMemberRows = statement(
  'workspaces.countMemberRows',
  'select count(*)::integer as members from members where workspace_id = $workspaceId',
  { params: { workspaceId: uuid }, columns: { members: integer.notNull } },
)
export async function countMembers(db: Executor, workspaceId: string): Promise<number> {
  return (await db.query(countMemberRows({ workspaceId })))[0]?.members ?? 0
}
