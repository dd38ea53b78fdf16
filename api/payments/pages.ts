import { page } from '#api/http/route.ts'
import { drawFields, type Field, withErrors } from '#api/pages/field.ts'
import { fieldErrors } from '#api/pages/form.ts'
import type { Page } from '#api/pages/page.ts'
import { httpOnly, template } from '#api/pages/template.ts'
import { type Problem, problem } from '#shared/kernel/errors.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { signer } from '#shared/kernel/signed.ts'
import { moneyText } from '#shared/payments/link.ts'
import { act, type PayableLink, readPayable } from '#shared/payments/sandbox-pay.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { emailKind } from '#shared/types/fields/address.ts'

const common = { tag: 'Pages', app: 'payments', permission: 'public', limit: null, framed: 'none', path: '/pay/:orgId/:linkId' } as const

const payForm = schema(
  t.Object({
    action: t.Enum(['pay', 'decline']),
    ticket: t.String({ description: 'As the page has it; it may be sent again.' }),
    name: t.Optional(t.String()),
    email: t.Optional(t.String()),
  }),
)

interface Shown {
  readonly amount: string
  readonly description: string
}

const form = template<Shown & { readonly fields: string; readonly ticket: string; readonly declined: boolean; readonly error: string }>(
  new URL('pay.eta', import.meta.url),
)
const over = template<Shown & { readonly message: string; readonly back: string | undefined }>(new URL('paid.eta', import.meta.url))

const fieldsOf = (name: string, email: string): Field[] => [
  { name: 'name', label: 'Your name', type: 'text', values: [name], attributes: { autocomplete: 'name', maxlength: 200 } },
  { name: 'email', label: 'Your email', type: 'email', values: [email], attributes: { autocomplete: 'email', maxlength: 320 } },
]

const shownOf = ({ amount, currency, description }: PayableLink): Shown => ({
  amount: `${moneyText(amount, currency)} ${currency}`,
  description,
})

/** Only this page's form may pay: it carries a signature that other websites cannot make, for this link alone. */
const tickets = ({ config }: Scope) => signer(config.secretKey, 'pay pages')
const ticketOf = (scope: Scope, link: PayableLink): string => tickets(scope).sign(`${scope.workspace.id} ${link.id}`)

interface Said {
  readonly name: string
  readonly email: string
  readonly declined?: boolean
  readonly failure?: Problem
}

function payPage(scope: Scope, link: PayableLink, { name, email, declined = false, failure }: Said): Page {
  const fields = fieldsOf(name, email)
  const errors = fieldErrors(fields, failure)
  const isOfField = failure !== undefined && fields.some((field) => failure.message.startsWith(`${field.name} `))
  return {
    title: 'Pay',
    brand: scope.workspace,
    body: form({
      ...shownOf(link),
      fields: drawFields(isOfField ? withErrors(fields, errors) : fields).text,
      ticket: ticketOf(scope, link),
      declined,
      error: failure && !isOfField ? failure.message : '',
    }),
    ...(failure ? { failure } : {}),
  }
}

function overPage(scope: Scope, link: PayableLink): Page {
  const isPaid = link.state === 'paid'
  const back = isPaid && link.redirect_url !== null ? httpOnly(link.redirect_url) : undefined
  return {
    title: isPaid ? 'Paid' : 'This link has ended',
    brand: scope.workspace,
    body: over({ ...shownOf(link), message: isPaid ? 'Thank you, the payment has been made.' : 'It can no longer be paid.', back }),
    ...(back === undefined ? {} : { leadsTo: back }),
  }
}

/** The sandbox's pay page (decisions, Payments). */
export const payPages = [
  page({
    ...common,
    method: 'GET',
    summary: 'The page where a payer pays in the sandbox',
    description: 'It stands for the page of a provider, and moves no money.',
    fails: ['NOT_FOUND'],
    handle: async ({ params }, scope) => {
      const link = await readPayable(scope, params.linkId)
      return link.state === 'open' ? payPage(scope, link, { name: link.customer_name, email: link.customer_email }) : overPage(scope, link)
    },
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Pay or decline by that page',
    description: 'The sandbox then tells its connection by a signed webhook, as a provider does.',
    form: payForm,
    fails: ['NOT_FOUND'],
    handle: async ({ params, body }, scope) => {
      const link = await readPayable(scope, params.linkId)
      if (link.state !== 'open') return overPage(scope, link)
      const [name, email] = [(body.get('name') ?? '').trim(), (body.get('email') ?? '').trim()]
      const failure = refusalOf(scope, link, body)
      if (failure) return payPage(scope, link, { name, email, failure })
      const outcome = body.get('action') === 'decline' ? 'declined' : 'paid'
      const after = await act(scope, link.id, { outcome, name, email })
      return after.state === 'open' ? payPage(scope, after, { name, email, declined: true }) : overPage(scope, after)
    },
  }),
]

function refusalOf(scope: Scope, link: PayableLink, body: URLSearchParams): Problem | undefined {
  const [name, email] = [(body.get('name') ?? '').trim(), (body.get('email') ?? '').trim()]
  if (!tickets(scope).holds(`${scope.workspace.id} ${link.id}`, body.get('ticket') ?? '')) {
    return problem('VALIDATION_ERROR', 'The page was not open here. Please try again.')
  }
  if (!['pay', 'decline'].includes(body.get('action') ?? '')) return problem('VALIDATION_ERROR', 'Choose whether to pay or to decline.')
  if (name.length > 200) return problem('VALIDATION_ERROR', 'name must have at most 200 characters')
  if (email !== '' && !isMail(email)) return problem('VALIDATION_ERROR', 'email must be a valid email address')
  return undefined
}

function isMail(text: string): boolean {
  try {
    emailKind.parse(text, { type: 'email', rules: {} }, { path: 'email', defaultCurrency: '' })
    return text.length <= 320
  } catch {
    return false
  }
}
