import { page } from '#api/http/route.ts'
import { type Field, renderFields, withErrors } from '#api/pages/fields/field.ts'
import { fieldErrors } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { requireResetToken, resetPassword } from '#shared/core/people/password-reset.ts'
import { passwordReset } from '#shared/core/people/schemas.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Properties of the routes of pages that mails link to, and their query. */
export const mailedPage = { tag: 'Pages', app: null, permission: 'public', framed: 'none' } as const
export const tokenQuery = schema(t.Object({ token: t.Optional(t.String({ maxLength: 200, description: 'The token in the mail.' })) }))

const renderForm = template<{ readonly token: string; readonly fields: string }>(new URL('reset.eta', import.meta.url))
const renderDone = template(new URL('reset-done.eta', import.meta.url))

export const newPassword: Field = {
  name: 'password',
  label: 'New password',
  type: 'password',
  required: true,
  hint: '8 characters or more',
  attributes: { autocomplete: 'new-password', minlength: 8, maxlength: 200 },
}

function resetPage(token: string, failure?: Problem): Page {
  const fields = renderFields(withErrors([newPassword], fieldErrors([newPassword], failure))).text
  return { title: 'Set a new password', body: renderForm({ token, fields }), ...(failure ? { failure } : {}) }
}

/** Pages linked from the password reset mail (docs/contract/access.md#pages-of-mails). */
export const routes = [
  page({
    ...mailedPage,
    method: 'GET',
    limit: 'content',
    path: '/reset',
    summary: 'Show the page where a new password is set',
    description: 'The password reset mail links to this page.',
    example: { query: { token: 'example-token-of-the-mail' }, file: 'Set a new password' },
    query: tokenQuery,
    fails: ['NOT_FOUND'],
    handle: async ({ query: { token = '' } }, scope) => {
      await requireResetToken(scope, token)
      return resetPage(token)
    },
  }),
  page({
    ...mailedPage,
    method: 'POST',
    limit: null,
    path: '/reset',
    summary: 'Set a new password with the form of the page',
    description: 'Works without scripts. All sessions of the person end.',
    example: { body: { token: 'example-token-of-the-mail', password: 'another example password' }, file: 'Your password is set' },
    usesPasswords: true,
    form: passwordReset,
    fails: ['NOT_FOUND'],
    handle: async ({ body, passwordQuota }, scope) => {
      const token = body.get('token') ?? ''
      await requireResetToken(scope, token)
      try {
        await resetPassword(scope, passwordQuota(), passwordReset.parse(Object.fromEntries(body)))
        return { title: 'Your password is set', body: renderDone({}) }
      } catch (error) {
        if (error instanceof Problem && error.status < 500) return resetPage(token, error)
        throw error
      }
    },
  }),
]
