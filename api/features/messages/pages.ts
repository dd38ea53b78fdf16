import { page } from '#api/http/route.ts'
import { createFormTokens, formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { findUnsubscribeRecipient, type UnsubscribeRecipient, unsubscribe } from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Pages', app: null, permission: 'public', framed: 'none', path: '/unsubscribe/:token' } as const

interface UnsubscribeView extends Omit<UnsubscribeRecipient, 'workspace'> {
  readonly workspace: string
  readonly token: string
  readonly formToken: string
  readonly error: string
}

const renderBody = template<UnsubscribeView>(new URL('unsubscribe.eta', import.meta.url))

const formTokens = createFormTokens('unsubscribe pages')

function unsubscribePage(scope: PlatformScope, recipient: UnsubscribeRecipient, token: string, failure?: Problem): Page {
  const { workspace, isStopped } = recipient
  return {
    title: isStopped ? 'You have unsubscribed' : 'Unsubscribe',
    brand: workspace,
    body: renderBody({
      ...recipient,
      workspace: workspace.name,
      token,
      formToken: formTokens.make(scope, token),
      error: failure?.message ?? '',
    }),
    ...(failure ? { failure } : {}),
  }
}

/** Body of the page's form, or of a mail program's one-click request (RFC 8058). */
const confirmation = schema(
  t.Object(
    {
      form_token: t.Optional(formTokenInput.form_token),
      'List-Unsubscribe': t.Optional(t.Enum(['One-Click'], { description: 'The value that mail programs send.' })),
    },
    { title: 'Unsubscription' },
  ),
)

/** Target of every message's List-Unsubscribe header. Opening it changes nothing, since mail scanners open links. */
export const pages = [
  page({
    ...common,
    method: 'GET',
    limit: 'content',
    summary: 'The page to unsubscribe from messages',
    description: 'Messages link to this page. Opening the page changes nothing.',
    example: { params: { token: 'example-token-of-the-message' }, file: 'Unsubscribe' },
    fails: ['NOT_FOUND'],
    handle: async ({ params }, scope) => unsubscribePage(scope, await findUnsubscribeRecipient(scope, params.token), params.token),
  }),
  page({
    ...common,
    method: 'POST',
    limit: null,
    summary: 'Unsubscribe from messages, by that page or in one click',
    description: 'A mail program sends `List-Unsubscribe=One-Click` without any credentials, url-encoded or multipart (RFC 8058).',
    example: {
      params: { token: 'example-token-of-the-message' },
      body: { 'List-Unsubscribe': 'One-Click' },
      file: 'You have unsubscribed',
    },
    // Mailbox providers send the request, also from their web pages. Cross-site forgery is no risk, since only the mail holds the URL.
    origins: 'any',
    multipart: true,
    form: confirmation,
    fails: ['NOT_FOUND', 'VALIDATION_ERROR'],
    handle: async ({ params: { token }, body: sent }, scope) => {
      const recipient = await findUnsubscribeRecipient(scope, token)
      const isConfirmed = sent.get('List-Unsubscribe') === 'One-Click' || formTokens.isIn(sent, scope, token)
      if (!isConfirmed) return unsubscribePage(scope, recipient, token, problem('VALIDATION_ERROR', 'Please press the button once more.'))
      return unsubscribePage(scope, await unsubscribe(scope, recipient), token)
    },
  }),
]
