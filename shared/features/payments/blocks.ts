import { defineBlock, text } from '#shared/core/automation/block.ts'
import { blankProblems, unknownName } from '#shared/core/automation/setting-problems.ts'
import { filledIn } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { createPaymentLink } from '#shared/features/payments/links/create.ts'
import { linkInput } from '#shared/features/payments/links/schemas.ts'
import { NoAnswer } from '#shared/features/payments/providers/call.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const createPaymentLinkBlock = defineBlock({
  type: 'action.create_payment_link',
  label: 'Create a payment link',
  description: 'Makes an address where a customer pays.',
  settings: {
    connection_id: text('Id of the connection.'),
    amount: text('What is to be paid; that of the invoice when blank.'),
    currency: text('ISO 4217 code; that of the invoice when blank, else the workspace’s own.'),
    invoice_id: text('Id of an invoice.'),
    description: text('Shown to the payer.'),
    customer_name: text('Who pays.'),
    customer_email: text('The payer’s address.'),
    customer_contact: text('The payer’s telephone.'),
    redirect_url: text('Where the payer is sent afterwards.'),
    expires_at: text('Until when it can be paid.'),
  },
  required: ['connection_id'],
  problems: (config, { paymentConnectionIds }) => [
    ...(config.amount || config.invoice_id ? [] : ['amount is required, or invoice_id']),
    ...unknownName('connection_id', config.connection_id, paymentConnectionIds, 'the id of a connection'),
    ...blankProblems(config, ['invoice_id']),
  ],
  handles: ['out'],
  output: { id: t.String(), short_url: t.String() },
  shown: 'editors',
  app: 'payments',
  work: {
    // Its provider is called, under the step's key: asked for again, the link is the one that was made first.
    calls: async ({ settings, key }, scope) => {
      requirePermission(scope, 'payments:collect', '*')
      const { id, short_url } = await asked(createPaymentLink(scope, linkInput.parse(filledIn(settings), 'link'), { naturalKey: key }))
      return { id, short_url }
    },
  },
})

/** A provider that does not answer is out of reach like anybody else. */
const asked = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof NoAnswer) throw new EgressFailure('unreachable', error.message, error)
    throw error
  }
}
