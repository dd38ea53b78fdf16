import { ids } from '#api/http/example-ids.ts'
import { page } from '#api/http/route.ts'
import { renderFields, withErrors } from '#api/pages/fields/field.ts'
import { createFormTokens, failedField, fieldErrors, formTokenInput } from '#api/pages/fields/form.ts'
import { personFields } from '#api/pages/fields/person-fields.ts'
import { chooseLocale, formatInstant, formatMoney } from '#api/pages/language.ts'
import type { Page } from '#api/pages/page.ts'
import { safeHttpUrl, template } from '#api/pages/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type PayPageLink, payOrDecline, requirePayPageLink } from '#shared/features/payments/sandbox-pay.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { isEmail } from '#shared/platform/kernel/values/email.ts'

const common = { tag: 'Pages', app: 'payments', permission: 'public', framed: 'none', path: '/pay/:orgId/:linkId' } as const

const payBody = schema(
  t.Object({
    action: t.Enum(['pay', 'decline']),
    ...formTokenInput,
    name: t.Optional(t.String()),
    email: t.Optional(t.String()),
  }),
)

/** The values that the pay page and the page of an ended link show. */
interface PaymentView {
  readonly amount: string
  /** Empty where the formatted amount already contains the currency's code. */
  readonly currency: string
  /** The locale of the amount and the dates. */
  readonly locale: string
  readonly description: string
}

interface PayPageValues extends PaymentView {
  readonly until: string
  readonly fields: string
  readonly formToken: string
  readonly declined: boolean
  readonly error: string
}
const renderPayForm = template<PayPageValues>(new URL('pay.eta', import.meta.url))

interface EndedLink extends PaymentView {
  /** Values of the receipt; undefined for a link that was not paid. */
  readonly receipt: { readonly to: string; readonly date: string; readonly reference: string } | undefined
  readonly back: string | undefined
}
const renderEndedLink = template<EndedLink>(new URL('paid.eta', import.meta.url))

function paymentView({ amount, currency, description }: PayPageLink, locale: string): PaymentView {
  const formatted = formatMoney(amount, currency, locale)
  return { amount: formatted, currency: formatted.includes(currency) ? '' : currency, locale, description }
}

const formTokens = createFormTokens('pay pages')
const subjectOf = ({ workspace }: Scope, { id }: PayPageLink): string => `${workspace.id} ${id}`

/** A payer's input, and how the last attempt to pay failed, if there was one. */
interface PayerInput {
  readonly name: string
  readonly email: string
  readonly declined?: boolean
  readonly failure?: Problem
}

function renderPayPage(scope: Scope, link: PayPageLink, locale: string, { name, email, declined = false, failure }: PayerInput): Page {
  const fields = personFields(name, email)
  const isOfField = failedField(fields, failure) !== undefined
  return {
    title: 'Pay',
    brand: scope.workspace,
    body: renderPayForm({
      ...paymentView(link, locale),
      until: formatInstant(link.expires_at, scope.workspace.timezone, locale),
      fields: renderFields(isOfField ? withErrors(fields, fieldErrors(fields, failure)) : fields).text,
      formToken: formTokens.make(scope, subjectOf(scope, link)),
      declined,
      error: failure && !isOfField ? failure.message : '',
    }),
    ...(failure ? { failure } : {}),
  }
}

/** Renders the page of a paid or closed link. With `redirects`, the page of a paid link redirects to the link's `redirect_url`. */
function renderEndedPage({ workspace }: Scope, link: PayPageLink, locale: string, redirects: boolean): Page {
  const { payment_id: reference, paid_at: at } = link
  const isPaid = reference !== null && at !== null
  const back = isPaid && link.redirect_url !== null ? safeHttpUrl(link.redirect_url) : undefined
  const receipt = isPaid ? { to: workspace.name, date: formatInstant(at, workspace.timezone, locale), reference } : undefined
  return {
    title: isPaid ? 'Paid' : 'This link has ended',
    brand: workspace,
    body: renderEndedLink({ ...paymentView(link, locale), receipt, back }),
    ...(receipt ? { script: 'print.js' } : {}),
    ...(back !== undefined && redirects ? { leadsTo: back } : {}),
  }
}

/** The sandbox's pay page (docs/contract/payments.md#sandbox). */
export const payPages = [
  page({
    ...common,
    method: 'GET',
    limit: 'content',
    summary: 'Show the pay page of the sandbox',
    description: 'It simulates the pay page of a provider and moves no money.',
    example: { params: { linkId: ids.paymentLink }, file: 'Pay' },
    fails: ['NOT_FOUND'],
    handle: async ({ params, header }, scope) => {
      const link = await requirePayPageLink(scope, params.linkId)
      const locale = chooseLocale(header('Accept-Language'))
      if (link.state !== 'open') return renderEndedPage(scope, link, locale, false)
      return renderPayPage(scope, link, locale, { name: link.customer_name, email: link.customer_email })
    },
  }),
  page({
    ...common,
    method: 'POST',
    limit: null,
    summary: "Pay or decline on the sandbox's pay page",
    description: "The sandbox then calls the connection's signed webhook, as a provider does.",
    example: {
      params: { linkId: ids.paymentLink },
      body: { form_token: 'example-form-token', action: 'pay', name: 'Lena Lindgren', email: 'lena@cafe-lindgren.example' },
      file: 'Paid',
    },
    form: payBody,
    fails: ['NOT_FOUND'],
    handle: async ({ params, body, header }, scope) => {
      const locale = chooseLocale(header('Accept-Language'))
      const link = await requirePayPageLink(scope, params.linkId)
      if (link.state !== 'open') return renderEndedPage(scope, link, locale, true)
      const [name, email] = [(body.get('name') ?? '').trim(), (body.get('email') ?? '').trim()]
      const failure = findFailure(scope, link, body)
      if (failure) return renderPayPage(scope, link, locale, { name, email, failure })
      const outcome = body.get('action') === 'decline' ? 'declined' : 'paid'
      const after = await payOrDecline(scope, link.id, { outcome, name, email })
      if (after.state !== 'open') return renderEndedPage(scope, after, locale, true)
      return renderPayPage(scope, after, locale, { name, email, declined: true })
    },
  }),
]

function findFailure(scope: Scope, link: PayPageLink, body: URLSearchParams): Problem | undefined {
  const [name, email] = [(body.get('name') ?? '').trim(), (body.get('email') ?? '').trim()]
  if (!formTokens.isIn(body, scope, subjectOf(scope, link))) {
    return problem('VALIDATION_ERROR', 'The form was not sent from this page. Please try again.')
  }
  if (!['pay', 'decline'].includes(body.get('action') ?? '')) return problem('VALIDATION_ERROR', 'Choose whether to pay or to decline.')
  if ([...name].length > 200) return problem('VALIDATION_ERROR', 'name must have at most 200 characters')
  if (email !== '' && (email.length > 320 || !isEmail(email))) return problem('VALIDATION_ERROR', 'email must be a valid email address')
  return undefined
}
