import * as examples from '#api/core/workspaces/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { inviteMember, listInvitations, withdrawInvitation } from '#shared/core/workspaces/invitations/invitations.ts'
import { invitation, invitationInput, invitationList } from '#shared/core/workspaces/invitations/schemas.ts'
import { getMember, listMembers, removeMember } from '#shared/core/workspaces/members/members.ts'
import { member, memberList } from '#shared/core/workspaces/members/schemas.ts'

const common = { tag: 'Members', app: null, limit: null } as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/members`,
    summary: 'List the people of a workspace',
    description: 'In the order of joining, each with its roles. Invited people are not included.',
    example: { answer: [examples.owner, examples.member] },
    permission: 'member',
    status: 200,
    response: memberList,
    handle: (_, scope) => listMembers(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${orgPath}/members`,
    summary: 'Invite a person',
    description:
      'Mails a token to the address. The person joins by accepting, with the roles that you may give then; those who manage members are notified of others. A new invitation invalidates the earlier token and counts in your name.',
    example: { body: { email: 'carla@example.com', role_ids: [ids.salesRole] }, answer: examples.invitation },
    permission: 'iam:manage_members',
    fails: ['KEY_TAKEN', 'LIMIT_EXCEEDED', 'RATE_LIMITED'],
    body: invitationInput,
    status: 201,
    response: invitation,
    handle: ({ body }, scope) => inviteMember(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/members/:userId`,
    summary: 'Get a person of a workspace',
    description: 'With the roles that the person holds.',
    example: { params: { userId: ids.member }, answer: examples.member },
    permission: 'member',
    status: 200,
    response: member,
    handle: ({ params }, scope) => getMember(scope, params.userId),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${orgPath}/members/:userId`,
    summary: 'Remove a person',
    description: 'The owner cannot be removed.',
    example: { params: { userId: ids.member } },
    permission: 'iam:manage_members',
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeMember(scope, params.userId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/invitations`,
    summary: 'List open invitations',
    description: 'Invitations that can still be accepted, oldest first.',
    example: { answer: [examples.invitation] },
    permission: 'iam:manage_members',
    status: 200,
    response: invitationList,
    handle: (_, scope) => listInvitations(scope),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${orgPath}/invitations/:invitationId`,
    summary: 'Withdraw an invitation',
    description: 'The mailed token is invalid at once.',
    example: { params: { invitationId: ids.invitation } },
    permission: 'iam:manage_members',
    status: 204,
    response: null,
    handle: ({ params }, scope) => withdrawInvitation(scope, params.invitationId),
  }),
]
