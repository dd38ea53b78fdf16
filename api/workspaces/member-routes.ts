import { answer, org } from '#api/http/route.ts'
import { invitation, invitationInput, invitationList, invite, listInvitations, withdrawInvitation } from '#shared/workspaces/invitations.ts'
import { getMember, listMembers, member, memberList, removeMember } from '#shared/workspaces/members.ts'

const common = { tag: 'Members', app: null, limit: null } as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: `${org}/members`,
    summary: 'List the people of a workspace',
    permission: 'member',
    status: 200,
    response: memberList,
    handle: (_, scope) => listMembers(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${org}/members`,
    summary: 'Invite a person',
    description: 'Mails a token to the address. It is a member once somebody has accepted with that; an earlier token is dead.',
    permission: 'iam:manage_members',
    fails: ['KEY_TAKEN', 'LIMIT_EXCEEDED', 'RATE_LIMITED'],
    body: invitationInput,
    status: 201,
    response: invitation,
    handle: ({ body }, scope) => invite(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${org}/members/:userId`,
    summary: 'Get a person of a workspace',
    permission: 'member',
    status: 200,
    response: member,
    handle: ({ params }, scope) => getMember(scope, params.userId),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${org}/members/:userId`,
    summary: 'Remove a person',
    description: 'The owner cannot be removed.',
    permission: 'iam:manage_members',
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeMember(scope, params.userId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${org}/invitations`,
    summary: 'List open invitations',
    permission: 'iam:manage_members',
    status: 200,
    response: invitationList,
    handle: (_, scope) => listInvitations(scope),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${org}/invitations/:invitationId`,
    summary: 'Take an invitation back',
    permission: 'iam:manage_members',
    status: 204,
    response: null,
    handle: ({ params }, scope) => withdrawInvitation(scope, params.invitationId),
  }),
]
