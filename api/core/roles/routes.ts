import * as examples from '#api/core/roles/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { addRoleMember, listRoleMembers, removeRoleMember } from '#shared/core/roles/role-members.ts'
import { createRole, deleteRole, getRole, listRolePage, replaceRole } from '#shared/core/roles/roles.ts'
import { decision, ownPolicy, role, roleInput, roleList, roleMemberInput, roleMembers, simulation } from '#shared/core/roles/schemas.ts'
import { simulate } from '#shared/core/roles/simulate.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const common = { tag: 'Roles', app: null, limit: null } as const
const all = `${orgPath}/iam/groups` as const
const one = `${all}/:groupId` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/iam/me`,
    summary: 'Get the rights of the caller',
    description: "The caller's roles, and the rules of all of them together. The owner may do everything, whatever the rules say.",
    example: { answer: examples.ownPolicy },
    permission: 'member',
    status: 200,
    response: ownPolicy,
    handle: async (_, scope) => describeActor(scope),
  }),
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List roles',
    description: 'With their policies, oldest first.',
    example: { query: { limit: 20 }, answer: [examples.role] },
    permission: 'iam:manage_groups',
    query: linkedQuery,
    status: 200,
    linked: true,
    response: roleList,
    handle: async (request, scope) => withNextLink(request, scope, await listRolePage(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a role',
    description: 'The role must grant no more than the caller holds. Only the owner can create a role for visitors.',
    example: { body: { name: 'Sales', description: 'Takes orders.', policy: examples.salesPolicy }, answer: examples.role },
    permission: 'iam:manage_groups',
    body: roleInput,
    status: 201,
    response: role,
    handle: ({ body }, scope) => createRole(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a role',
    description: 'With its policy.',
    example: { params: { groupId: ids.salesRole }, answer: examples.role },
    permission: 'iam:manage_groups',
    status: 200,
    response: role,
    handle: ({ params }, scope) => getRole(scope, params.groupId),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Replace a role',
    description: 'Omitted properties become empty. The role must grant no more than the caller holds.',
    example: { params: { groupId: ids.salesRole }, body: { name: 'Sales and service' }, answer: examples.changedRole },
    permission: 'iam:manage_groups',
    body: roleInput,
    stored: ({ params }, scope) => getRole(scope, params.groupId),
    status: 200,
    response: role,
    handle: ({ params, body }, scope) => replaceRole(scope, params.groupId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a role',
    description: 'Its holders lose it with the next request.',
    example: { params: { groupId: ids.salesRole } },
    permission: 'iam:manage_groups',
    status: 204,
    response: null,
    handle: ({ params }, scope) => deleteRole(scope, params.groupId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/members`,
    summary: 'List the holders of a role',
    description: 'People and service accounts.',
    example: { params: { groupId: ids.salesRole }, answer: [{ id: ids.member, type: 'user', name: 'Ben Okafor' }] },
    permission: 'iam:manage_groups',
    status: 200,
    response: roleMembers,
    handle: ({ params }, scope) => listRoleMembers(scope, params.groupId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/members`,
    summary: 'Give a role to a person or service account',
    description: 'The role must grant no more than the caller holds.',
    example: { params: { groupId: ids.salesRole }, body: { user_id: ids.member } },
    permission: 'iam:manage_members',
    body: roleMemberInput,
    status: 204,
    response: null,
    handle: ({ params, body }, scope) => addRoleMember(scope, params.groupId, body.user_id),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${one}/members/:userId`,
    summary: 'Take a role from a person or service account',
    description: 'Takes effect with the next request.',
    example: { params: { groupId: ids.salesRole, userId: ids.member } },
    permission: 'iam:manage_members',
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeRoleMember(scope, params.groupId, params.userId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${orgPath}/iam/simulate`,
    summary: 'Simulate a decision for a principal',
    description:
      '`matched` is the deciding rule, with its role and its index there; null when no rule matches, and access is denied. `attrs` are the values that conditions are tested against.',
    example: { body: { user_id: ids.member, action: 'records:read', resource: 'invoices' }, answer: examples.decision },
    permission: 'iam:simulate',
    body: simulation,
    status: 200,
    response: decision,
    handle: ({ body }, scope) => simulate(scope, body, async (key) => (await findRecordType(scope, key))?.fields ?? []),
  }),
]

/** The calling principal, its roles and the combined rules of all its roles (docs/contract/access.md#own-rights). */
function describeActor({ actor, principal }: Scope) {
  if (!principal) throw problem('UNAUTHORIZED')
  const { id, type, name } = principal
  const policy = actor.rules.map(({ role_id: _, index: __, ...rule }) => rule)
  return { principal: { id, type, name }, owner: actor.owner, roles: [...actor.roles], policy }
}
