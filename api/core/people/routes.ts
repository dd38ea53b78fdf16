import { answer } from '#api/http/route.ts'
import { changePassword, requestPasswordReset, resetPassword } from '#shared/core/people/password-reset.ts'
import { credentials, passwordChange, passwordReset, resetRequest, signInAnswer } from '#shared/core/people/schemas.ts'
import { signIn, signOut } from '#shared/core/people/sessions.ts'
import { describeCaller } from '#shared/core/workspaces/caller.ts'
import { acceptInvitation } from '#shared/core/workspaces/invitations/accept-invitation.ts'
import { acceptedInvitation, invitationAnswer } from '#shared/core/workspaces/invitations/schemas.ts'
import { caller } from '#shared/core/workspaces/schemas.ts'

const common = { tag: 'People', app: null } as const

/** The account for which sign-in attempts are counted, from whichever network addresses they come. */
const accountKey = (email: string): string => email.trim().toLowerCase()

export const routes = [
  answer({
    ...common,
    method: 'POST',
    path: '/auth/sign-in',
    summary: 'Sign in with a password',
    description: 'At most ten attempts a minute per network address and per account.',
    permission: 'public',
    limit: 'sign-in',
    limitBy: ['sign-in', ({ body }) => accountKey(body.email)],
    fails: ['UNAUTHORIZED', 'RATE_LIMITED'],
    body: credentials,
    status: 200,
    response: signInAnswer,
    handle: ({ body }, scope) => signIn(scope, body),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/auth/sign-out',
    summary: 'Sign out',
    description: "The session's token is invalid at once. Other sessions of the person continue.",
    permission: 'person',
    limit: null,
    status: 204,
    response: null,
    handle: (_, scope) => signOut(scope),
  }),
  answer({
    ...common,
    method: 'GET',
    path: '/auth/me',
    summary: 'Get the caller and its workspaces',
    description: 'The caller of an access key is a service account of one workspace, without an email address.',
    permission: 'any',
    limit: null,
    status: 200,
    response: caller,
    handle: (_, scope) => describeCaller(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/auth/password',
    summary: 'Change the password',
    description: "Ends the person's other sessions. Counts as an attempt to sign in.",
    permission: 'person',
    limit: null,
    limitBy: ['sign-in', (_, { principal }) => accountKey(principal?.email ?? '')],
    fails: ['RATE_LIMITED'],
    body: passwordChange,
    status: 204,
    response: null,
    handle: ({ body }, scope) => changePassword(scope, body),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/auth/forgot',
    summary: 'Request a password reset mail',
    description: 'The response is the same whether or not the address has an account.',
    permission: 'public',
    limit: 'forgot',
    fails: ['RATE_LIMITED'],
    body: resetRequest,
    status: 204,
    response: null,
    handle: ({ body }, scope) => requestPasswordReset(scope, body.email),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/auth/reset',
    summary: 'Set a new password by the token of a mail',
    description: 'The token works once, within an hour. All sessions of the person end.',
    permission: 'public',
    limit: null,
    body: passwordReset,
    status: 204,
    response: null,
    handle: ({ body }, scope) => resetPassword(scope, body),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/auth/accept-invite',
    summary: 'Join a workspace by the token of a mail',
    description:
      'Creates an account with this name and password. If the invited address has an account, that account joins: the password must be its own, and its name stays.',
    permission: 'public',
    limit: null,
    fails: ['UNAUTHORIZED', 'LIMIT_EXCEEDED', 'ORG_SUSPENDED'],
    body: invitationAnswer,
    status: 200,
    response: acceptedInvitation,
    handle: ({ body }, scope) => acceptInvitation(scope, body),
  }),
]
