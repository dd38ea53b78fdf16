import { defineBlock, text } from '#shared/flows/block.ts'
import { notAvailable } from '#shared/flows/blocks/not-available.ts'
import { t } from '#shared/kernel/schema.ts'

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
  problems: ({ amount, invoice_id }) => (amount || invoice_id ? [] : ['amount is required, or invoice_id']),
  handles: ['out'],
  output: { id: t.String(), short_url: t.String() },
  shown: 'editors',
  app: 'payments',
  work: notAvailable,
})
