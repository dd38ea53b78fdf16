import {
  consoleAddress,
  operatorCookie,
  operatorFormToken,
  readOperatorSession,
  requireFormToken,
  signInSubject,
} from '#api/access/operator-session.ts'
import { buttonForm, consolePage, listPages, seeOther, showConsole } from '#api/core/operators/console.ts'
import { formToken } from '#api/core/operators/examples.ts'
import { page } from '#api/http/route.ts'
import { type Field, renderFields, withErrors } from '#api/pages/fields/field.ts'
import { fieldErrors, formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { closeOperatorSession, openOperatorSession } from '#shared/core/operators/sessions.ts'
import { credentialFields, credentials } from '#shared/core/people/schemas.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** The pages that need no session. */
const entrance = { ...consolePage, permission: 'public' } as const

const renderStart = template<{ readonly pages: ReturnType<typeof listPages> }>(new URL('start.eta', import.meta.url))
const renderSignIn = template<Readonly<Record<'action' | 'formToken' | 'fields', string>>>(new URL('sign-in.eta', import.meta.url))

const fields: readonly Field[] = [
  { name: 'email', label: 'Email address', type: 'email', required: true, attributes: { autocomplete: 'username', maxlength: 320 } },
  {
    name: 'password',
    label: 'Password',
    type: 'password',
    required: true,
    attributes: { autocomplete: 'current-password', maxlength: 1_000 },
  },
]

function signInPage(scope: PlatformScope, email = '', failure?: Problem): Page {
  const filled = fields.map((field) => (field.name === 'email' ? { ...field, values: [email] } : field))
  return {
    title: 'Operator console',
    body: renderSignIn({
      action: consoleAddress(scope.config, 'sign-in'),
      formToken: operatorFormToken(scope, signInSubject),
      fields: renderFields(withErrors(filled, fieldErrors(filled, failure))).text,
    }),
    ...(failure ? { failure } : {}),
  }
}

/** The first page, and signing in and out. */
export const entrancePages = [
  page({
    ...entrance,
    method: 'GET',
    limit: 'content',
    path: '/operator',
    summary: 'Show the operator console',
    description: 'Links all pages of the console. Shows the form to sign in to whoever has no session of the console.',
    example: { file: 'Operator console' },
    handle: async ({ header }, scope) => {
      const session = await readOperatorSession(header('cookie'), scope)
      if (!session) return signInPage(scope)
      const inside = { ...scope, operator: session.operator, operatorSessionId: session.id }
      return showConsole(inside, { title: 'Operator console', place: '', content: renderStart({ pages: listPages(inside) }) })
    },
  }),
  page({
    ...entrance,
    method: 'POST',
    path: '/operator/sign-in',
    summary: 'Sign in to the operator console',
    description: 'Opens a session of twelve hours and sets its cookie. Counts as an attempt to sign in.',
    example: { body: { email: 'ada@example.com', password: 'example password', ...formToken } },
    usesPasswords: true,
    fails: ['UNAUTHORIZED', 'FORBIDDEN'],
    form: schema(t.Object({ ...credentialFields, ...formTokenInput }, { title: 'ConsoleSignIn' })),
    statuses: [303],
    handle: async ({ body: sent, passwordQuota, header }, scope) => {
      requireFormToken(scope, sent, signInSubject)
      const { form_token: _, ...input } = Object.fromEntries(sent)
      try {
        const token = await openOperatorSession(scope, passwordQuota(), credentials.parse(input))
        const earlier = await readOperatorSession(header('cookie'), scope)
        if (earlier) await closeOperatorSession(scope, earlier.id)
        return seeOther(consoleAddress(scope.config), { 'Set-Cookie': operatorCookie(scope.config.publicUrl, token) })
      } catch (error) {
        if (error instanceof Problem && error.status < 500) return signInPage(scope, input.email, error)
        throw error
      }
    },
  }),
  page({
    ...entrance,
    method: 'POST',
    path: '/operator/sign-out',
    summary: 'Sign out of the operator console',
    description: 'Ends the session of the cookie and removes the cookie.',
    example: { body: formToken },
    form: buttonForm,
    statuses: [303],
    handle: async ({ body: sent, header }, scope) => {
      const session = await readOperatorSession(header('cookie'), scope)
      if (session) {
        requireFormToken(scope, sent, session.id)
        await closeOperatorSession(scope, session.id)
      }
      return seeOther(consoleAddress(scope.config), { 'Set-Cookie': operatorCookie(scope.config.publicUrl, null) })
    },
  }),
]
