import { mailedPage, newPassword, tokenQuery } from '#api/core/people/pages.ts'
import { page } from '#api/http/route.ts'
import { type Field, renderFields, withErrors } from '#api/pages/fields/field.ts'
import { fieldErrors } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { type InvitationView, joinByInvitation, readInvitation } from '#shared/core/workspaces/invitations/accept-invitation.ts'
import { invitationAnswer } from '#shared/core/workspaces/invitations/schemas.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

interface InvitationForm {
  readonly token: string
  readonly email: string
  readonly hasAccount: boolean
  readonly fields: string
}

const renderForm = template<InvitationForm>(new URL('accept-invite.eta', import.meta.url))
const renderDone = template<{ readonly email: string; readonly name: string }>(new URL('accept-invite-done.eta', import.meta.url))

const name: Field = {
  name: 'name',
  label: 'Your name',
  type: 'text',
  required: true,
  attributes: { autocomplete: 'name', maxlength: 120 },
}
const ownPassword: Field = {
  name: 'password',
  label: 'Your password',
  type: 'password',
  required: true,
  attributes: { autocomplete: 'current-password', maxlength: 200 },
}

function invitedPage(view: InvitationView, token: string, sent: { readonly name?: string; readonly failure?: Problem } = {}): Page {
  const { workspace, email, hasAccount } = view
  const fieldList = hasAccount
    ? [ownPassword]
    : [
        { ...name, values: [sent.name ?? ''] },
        { ...newPassword, label: 'Choose a password' },
      ]
  const fields = renderFields(withErrors(fieldList, errorsOf(fieldList, hasAccount, sent.failure))).text
  const body = renderForm({ token, email, hasAccount, fields })
  return { title: `Join ${workspace.name}`, brand: workspace, body, ...(sent.failure ? { failure: sent.failure } : {}) }
}

function errorsOf(fieldList: readonly Field[], hasAccount: boolean, failure: Problem | undefined): Readonly<Record<string, string>> {
  if (failure?.code === 'UNAUTHORIZED')
    return { password: hasAccount ? 'This is not your password' : 'Your password has just been set. Try again' }
  return fieldErrors(fieldList, failure)
}

/** Pages linked from the invitation mail (docs/contract/access.md#pages-of-mails). */
export const routes = [
  page({
    ...mailedPage,
    method: 'GET',
    limit: 'content',
    path: '/accept-invite',
    summary: 'Show the page where an invitation is accepted',
    description: 'The invitation mail links to this page. A person with an account enters the password of the account.',
    example: { query: { token: 'example-token-of-the-mail' }, file: 'Join Harbour Coffee' },
    query: tokenQuery,
    fails: ['NOT_FOUND'],
    handle: async ({ query: { token = '' } }, scope) => invitedPage(await readInvitation(scope, token), token),
  }),
  page({
    ...mailedPage,
    method: 'POST',
    limit: null,
    path: '/accept-invite',
    summary: 'Accept an invitation with the form of the page',
    description: 'Works without scripts.',
    example: { body: { token: 'example-token-of-the-mail', name: 'Ben Okafor', password: 'example password' }, file: 'You are in' },
    usesPasswords: true,
    form: invitationAnswer,
    fails: ['NOT_FOUND', 'UNAUTHORIZED', 'LIMIT_EXCEEDED', 'ORG_SUSPENDED'],
    handle: async ({ body, passwordQuota }, scope) => {
      const sent = Object.fromEntries(body)
      const token = sent.token ?? ''
      const view = await readInvitation(scope, token)
      try {
        // An existing account keeps its name, so the form does not ask for one.
        await joinByInvitation(scope, passwordQuota(), invitationAnswer.parse(view.hasAccount ? { ...sent, name: view.email } : sent))
        return { title: 'You are in', brand: view.workspace, body: renderDone({ email: view.email, name: view.workspace.name }) }
      } catch (error) {
        if (error instanceof Problem && error.status < 500) return invitedPage(view, token, { name: sent.name ?? '', failure: error })
        throw error
      }
    },
  }),
]
