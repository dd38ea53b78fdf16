import { answer } from '#api/http/route.ts'
import {
  changePassword,
  forgotPassword,
  passwordChange,
  passwordReset,
  resetPassword,
  resetRequest,
} from '#shared/people/password-reset.ts'
import { credentials, signedIn, signIn, signOut } from '#shared/people/sessions.ts'
import { accepted, acceptInvitation, invitationAnswer } from '#shared/workspaces/accept-invitation.ts'
import { caller, describeCaller } from '#shared/workspaces/caller.ts'

const common = { tag: 'People', app: null } as const

/** Whoever guesses a password is counted by the account it is guessed for, however many addresses the guesses come from. */
const account = (email: string): string => email.trim().toLowerCase()

export const routes = [
  answer({
    ...common,
    method: 'POST',
    path: '/auth/sign-in',
    summary: 'Sign in with a password',
    description: 'Ten tries a minute from one address of the network and for one account.',
    permission: 'public',
    limit: 'sign-in',
    limitBy: ['sign-in', ({ body }) => account(body.email)],
    fails: ['UNAUTHORIZED', 'RATE_LIMITED'],
    body: credentials,
    status: 200,
    response: signedIn,
    handle: ({ body }, scope) => signIn(scope, body),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/auth/sign-out',
    summary: 'Sign out',
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
    summary: 'Who calls, and its workspaces',
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
    description: "Ends the person's other sessions. Counts as a try to sign in.",
    permission: 'person',
    limit: null,
    limitBy: ['sign-in', (_, { principal }) => account(principal?.email ?? '')],
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
    summary: 'Ask for a mail by which to set a new password',
    description: 'Answers the same whether anybody has the address.',
    permission: 'public',
    limit: 'forgot',
    fails: ['RATE_LIMITED'],
    body: resetRequest,
    status: 204,
    response: null,
    handle: ({ body }, scope) => forgotPassword(scope, body.email),
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
      'Makes an account with this name and password. An address that has one already joins with it: the password must be its own, and its name stays.',
    permission: 'public',
    limit: null,
    fails: ['UNAUTHORIZED', 'LIMIT_EXCEEDED', 'ORG_SUSPENDED'],
    body: invitationAnswer,
    status: 200,
    response: accepted,
    handle: ({ body }, scope) => acceptInvitation(scope, body),
  }),
]
