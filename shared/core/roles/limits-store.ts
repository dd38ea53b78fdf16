import { bigint, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const sizes = { roles: bigint.notNull, bytes: bigint.notNull }

/** The number of a principal's roles, and the bytes of their policies. */
export const findPrincipalSize = statement(
  'roles.findPrincipalSize',
  `select count(*) as roles, coalesce(sum(role.policy_bytes), 0)::bigint as bytes
   from role_members as held join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id
   where held.workspace_id = $workspaceId and held.principal_id = $principalId`,
  { params: { workspaceId: uuid, principalId: uuid }, columns: sizes },
)

/** The number of the visitors' roles, and the bytes of their policies. */
export const findVisitorSize = statement(
  'roles.findVisitorSize',
  `select count(*) as roles, coalesce(sum(policy_bytes), 0)::bigint as bytes
   from roles where workspace_id = $workspaceId and is_anonymous`,
  { params: { workspaceId: uuid }, columns: sizes },
)

/** The number of a role's holders whose policies have more than `most` bytes together. */
export const countLargeHolders = statement(
  'roles.countLargeHolders',
  `select count(*) as holders
   from (
     select holder.principal_id
     from role_members as holder
     join role_members as held on held.workspace_id = holder.workspace_id and held.principal_id = holder.principal_id
     join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id
     where holder.workspace_id = $workspaceId and holder.role_id = $roleId
     group by holder.principal_id
     having sum(role.policy_bytes) > $most
   ) as large`,
  { params: { workspaceId: uuid, roleId: uuid, most: bigint }, columns: { holders: bigint.notNull } },
)
const found = { workspace_id: uuid.notNull, id: uuid.notNull, name: text.notNull }

/** The roles of all workspaces whose policy has more than `most` bytes. */
export const findLargeRoles = statement(
  'roles.findLargeRoles',
  `select workspace_id, id, name, policy_bytes::bigint as bytes from roles where policy_bytes > $most::bigint order by workspace_id, id`,
  { params: { most: bigint }, columns: { ...found, bytes: bigint.notNull } },
)

/** The members and service accounts of all workspaces that hold more than so many roles, or more than so many bytes of policies. */
export const findLargePrincipals = statement(
  'roles.findLargePrincipals',
  `select held.workspace_id, held.principal_id as id, coalesce(min(person.name), min(account.name), '') as name,
     count(*) as roles, sum(role.policy_bytes)::bigint as bytes
   from role_members as held
   join roles as role on role.workspace_id = held.workspace_id and role.id = held.role_id
   left join users as person on person.id = held.principal_id
   left join service_accounts as account on account.workspace_id = held.workspace_id and account.id = held.principal_id
   group by held.workspace_id, held.principal_id
   having count(*) > $mostRoles or sum(role.policy_bytes) > $mostBytes
   order by held.workspace_id, held.principal_id`,
  { params: { mostRoles: bigint, mostBytes: bigint }, columns: { ...found, ...sizes } },
)

/** The workspaces whose visitors' roles are more than so many, or have more than so many bytes of policies. */
export const findLargeVisitors = statement(
  'roles.findLargeVisitors',
  `select workspace_id, count(*) as roles, sum(policy_bytes)::bigint as bytes
   from roles where is_anonymous
   group by workspace_id having count(*) > $mostRoles or sum(policy_bytes) > $mostBytes
   order by workspace_id`,
  { params: { mostRoles: bigint, mostBytes: bigint }, columns: { workspace_id: uuid.notNull, ...sizes } },
)
