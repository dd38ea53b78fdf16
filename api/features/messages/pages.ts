import { page } from '#api/http/route.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import {
  findUnsubscribeRecipient,
  isPageProof,
  type UnsubscribeRecipient,
  unsubscribe,
} from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Pages', app: null, permission: 'public', limit: null, framed: 'none', path: '/unsubscribe/:token' } as const

interface Shown extends Omit<UnsubscribeRecipient, 'workspace'> {
  readonly workspace: string
  readonly token: string
  readonly error: string
}

const body = template<Shown>(new URL('unsubscribe.eta', import.meta.url))

function unsubscribePage(recipient: UnsubscribeRecipient, token: string, failure?: Problem): Page {
  const { workspace, isStopped } = recipient
  return {
    title: isStopped ? 'You have unsubscribed' : 'Unsubscribe',
    brand: workspace,
    body: body({ ...recipient, workspace: workspace.name, token, error: failure?.message ?? '' }),
    ...(failure ? { failure } : {}),
  }
}

/** What the page's form sends, or a mail program in one click (RFC 8058). */
const confirmation = schema(
  t.Object(
    {
      proof: t.Optional(t.String({ description: 'As the page has it.' })),
      'List-Unsubscribe': t.Optional(t.Enum(['One-Click'], { description: 'What mail programs send.' })),
    },
    { title: 'Unsubscription' },
  ),
)

/** Where List-Unsubscribe of every message leads. Opening it changes nothing, since what scans mails opens links. */
export const pages = [
  page({
    ...common,
    method: 'GET',
    summary: 'The page where somebody wants no more messages',
    description: 'Messages lead there. Looking at it changes nothing.',
    fails: ['NOT_FOUND'],
    handle: async ({ params }, scope) => unsubscribePage(await findUnsubscribeRecipient(scope, params.token), params.token),
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Want no more messages, by that page or in one click',
    description: 'A mail program sends `List-Unsubscribe=One-Click` without any credentials, url-encoded or multipart (RFC 8058).',
    // The provider of a mailbox sends it, or its web page: it is no cross-site forgery, since only the mail has the address.
    origins: 'any',
    multipart: true,
    maxBodyBytes: 64 * 1024,
    form: confirmation,
    fails: ['NOT_FOUND', 'VALIDATION_ERROR'],
    handle: async ({ params: { token }, body: sent }, scope) => {
      const recipient = await findUnsubscribeRecipient(scope, token)
      const isConfirmed = sent.get('List-Unsubscribe') === 'One-Click' || isPageProof(scope, token, sent.get('proof') ?? '')
      if (!isConfirmed) return unsubscribePage(recipient, token, problem('VALIDATION_ERROR', 'Please press the button once more.'))
      return unsubscribePage(await unsubscribe(scope, token), token)
    },
  }),
]
