import type { RoleName } from '#shared/core/roles/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A person of a workspace with the roles that it holds there. */
export interface Member {
  readonly id: string
  readonly type: 'user'
  readonly name: string
  readonly email: string
  readonly owner: boolean
  readonly roles: readonly RoleName[]
  readonly created_at: string
}

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
  where member.workspace_id = $1`

const list = sql('list_members', `${members} order by member.created_at, person.id`)
export const listMemberRows = (db: Executor, workspaceId: string): Promise<Member[]> => db.query<Member>(list(workspaceId))

const find = sql('find_member', `${members} and member.user_id = $2`)
export async function findMember(db: Executor, workspaceId: string, userId: string): Promise<Member | undefined> {
  return (await db.query<Member>(find(workspaceId, userId)))[0]
}

const findByEmail = sql(
  'find_member_by_email',
  `select user_id from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $1 and lower(person.email) = lower($2)`,
)
export async function hasMemberWithEmail(db: Executor, workspaceId: string, email: string): Promise<boolean> {
  return (await db.query(findByEmail(workspaceId, email))).length > 0
}

const insert = sql('insert_member', 'insert into members (workspace_id, user_id) values ($1, $2) on conflict do nothing')
/** Makes a person a member; no change if it is one already. */
export async function insertMember(db: Executor, workspaceId: string, userId: string): Promise<void> {
  await db.query(insert(workspaceId, userId))
}

// Also deletes the invitations that the member sent: otherwise it could come back by an invitation to another of its addresses.
const remove = sql(
  'delete_member',
  `with gone as (delete from members where workspace_id = $1 and user_id = $2 returning user_id),
     uninvited as (delete from invitations where workspace_id = $1 and invited_by in (select user_id from gone))
   select user_id from gone`,
)
/** Takes a person out of a workspace, with its roles and the invitations that it sent; false when it is no member. */
export async function deleteMember(db: Executor, workspaceId: string, userId: string): Promise<boolean> {
  return (await db.query(remove(workspaceId, userId))).length > 0
}

const count = sql('count_members', 'select count(*)::integer as members from members where workspace_id = $1')
export async function countMembers(db: Executor, workspaceId: string): Promise<number> {
  return (await db.query<{ members: number }>(count(workspaceId)))[0]?.members ?? 0
}
