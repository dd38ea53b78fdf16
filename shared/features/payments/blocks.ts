import { defineBlock, readIdSetting, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, unknownNameProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { readFilledTexts } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { parseCurrencyCode } from '#shared/core/types/field-kinds/currency.ts'
import { createPaymentLink } from '#shared/features/payments/links/create.ts'
import { readExpiry } from '#shared/features/payments/links/new-link.ts'
import { linkInput, readLinkInput } from '#shared/features/payments/links/schemas.ts'
import { ProviderUnavailable } from '#shared/features/payments/providers/call.ts'
import { requireRedirectUrl } from '#shared/features/payments/redirect-url.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const createPaymentLinkBlock = defineBlock({
  type: 'action.create_payment_link',
  label: 'Create a payment link',
  description: 'Creates an address where a customer pays.',
  settings: {
    connection_id: textSetting('Id of the connection.'),
    amount: textSetting('The amount; default: the total of the invoice.'),
    currency: textSetting('ISO 4217 code; default: that of the invoice, else the workspace’s default currency.'),
    invoice_id: textSetting('Id of an invoice.'),
    description: textSetting('Shown to the payer.'),
    customer_name: textSetting('The payer’s name.'),
    customer_email: textSetting('The payer’s address.'),
    customer_contact: textSetting('The payer’s telephone.'),
    redirect_url: textSetting('Address to which the payer is sent after paying.'),
    expires_at: textSetting('Until when the link can be paid.'),
  },
  required: ['connection_id'],
  problems: (config, { paymentConnectionIds }) => [
    ...(config.amount || config.invoice_id ? [] : ['amount is required, or invoice_id']),
    ...unknownNameProblems('connection_id', config.connection_id, paymentConnectionIds, 'the id of a connection'),
    ...blankProblems(config, ['invoice_id']),
    ...valueProblems(config, {
      amount: (amount) => readLinkInput({ connection_id: '', amount }),
      currency: parseCurrencyCode,
      invoice_id: readIdSetting,
      redirect_url: (url) => requireRedirectUrl(url),
      expires_at: (instant) => readExpiry(instant),
    }),
  ],
  handles: ['out'],
  output: { id: t.String(), short_url: t.String() },
  shown: 'editors',
  app: 'payments',
  work: {
    // Calls the provider with the step's key. A retry passes the same key and gets the link that was created first.
    calls: async ({ settings, key }, scope) => {
      requirePermission(scope, 'payments:collect')
      const { id, short_url } = await toEgressFailure(createPaymentLink(scope, linkInput.parse(readFilledTexts(settings), 'link'), key))
      return { id, short_url }
    },
  },
})

/** Turns ProviderUnavailable into the failure that any other unreachable server gives. */
const toEgressFailure = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof Problem && error.cause instanceof EgressFailure) throw error.cause
    if (error instanceof ProviderUnavailable) throw new EgressFailure('unreachable', error.message, error)
    throw error
  }
}
