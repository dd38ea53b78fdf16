import { sql } from '#shared/db/statement.ts'
import { compilePolicy } from '#shared/policy/evaluate.ts'
import type { Permission } from '#shared/policy/permissions.ts'
import type { PolicyRule } from '#shared/policy/policy.ts'
import { permits } from '#shared/scope/access.ts'
import type { Scope } from '#shared/scope/scope.ts'

interface Row {
  readonly user_id: string
  readonly owner: boolean
  readonly role_ids: readonly string[]
}

const findMembers = sql(
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

const findPolicies = sql('find_policies', 'select id, policy from roles where workspace_id = $1 and not is_anonymous order by id')

/**
 * The members of the workspace whose roles allow a permission on every item, and the owner, by their ids. Service accounts are none of
 * them: nobody reads their inboxes.
 */
export async function holdersOf({ db, workspace }: Pick<Scope, 'db' | 'workspace'>, permission: Permission): Promise<string[]> {
  const members = await db.query<Row>(findMembers(workspace.id))
  const roles = await db.query<{ id: string; policy: readonly PolicyRule[] }>(findPolicies(workspace.id))
  const policies = new Map(roles.map(({ id, policy }) => [id, policy]))
  return members.filter((member) => holds(member, policies, permission)).map(({ user_id }) => user_id)
}

function holds({ user_id, owner, role_ids }: Row, policies: ReadonlyMap<string, readonly PolicyRule[]>, permission: Permission): boolean {
  const rules = role_ids.flatMap((id) => (policies.get(id) ?? []).map((rule, index) => ({ ...rule, role_id: id, index })))
  const policy = compilePolicy(rules, { id: user_id, type: 'user', owner })
  return permits({ actor: { policy } }, permission)
}
