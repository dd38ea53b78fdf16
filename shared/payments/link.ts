import { currencyDigits } from '#shared/kernel/currency.ts'
import { problem } from '#shared/kernel/errors.ts'
import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import { providerNames } from '#shared/payments/connection.ts'
import { parseAmount } from '#shared/types/fields/number.ts'

/** What becomes of a link (document 2, States and transitions). */
export const linkStatuses = ['created', 'paid', 'cancelled', 'expired'] as const
export type LinkStatus = (typeof linkStatuses)[number]

const text = (most: number, description?: string) =>
  t.Optional(nullable(t.String({ maxLength: most, ...(description === undefined ? {} : { description }) })))

const parts = {
  connection_id: t.String({ description: 'The connection to collect through.' }),
  currency: text(3, "ISO 4217; left out, the invoice's currency, else that of the workspace."),
  description: text(500, 'Shown to the payer.'),
  invoice_id: text(36, 'A record of invoices that the caller may read.'),
  redirect_url: text(2_000, "Where the payer is sent after paying: an absolute http(s) address. The connection's without it."),
  customer_name: text(200),
  customer_email: text(320),
  customer_contact: text(50),
  expires_at: text(40, 'When it can no longer be paid: an instant within 180 days; left out, in 30 days.'),
}

/** What makes a link (document 2, POST links body). What of it needs more than its form is asked where the link is made. */
export const linkInput = schema(
  t.Object(
    {
      ...parts,
      amount: t.Optional(t.Unknown({ description: 'A positive decimal, as text or as a number; left out, the total of the invoice.' })),
    },
    { title: 'PaymentLinkInput' },
  ),
)
export type LinkInput = TypeOf<typeof linkInput>

/** The same as it travels to a worker: the amount is decimal text, since a queue keeps no digits of a number. */
export const linkRequest = t.Object({ ...parts, amount: nullable(t.String()) })
export type LinkRequest = TypeOf<ReturnType<typeof schema<typeof linkRequest>>>

/** What a caller sent, with its amount read. Throws VALIDATION_ERROR for an amount that is none, or not above zero. */
export function readLinkInput(input: LinkInput): LinkRequest {
  const { amount, ...others } = input
  if (amount === undefined || amount === null || amount === '') return { ...others, amount: null }
  const read = parseAmount(amount, 'amount')
  if (!/[1-9]/.test(read) || read.startsWith('-')) throw problem('VALIDATION_ERROR', `amount must be above zero, got ${read}`)
  return { ...others, amount: read }
}

/** A link as callers read it (document 2, Payment link). */
export const linkView = schema(
  t.Object(
    {
      id: t.String({ format: 'uuid' }),
      connection_id: t.String({ format: 'uuid' }),
      provider: t.Enum([...providerNames]),
      short_url: t.String({ description: 'The page to send to the customer; empty while the provider has not answered.' }),
      amount: t.String({ description: 'Decimal text.' }),
      currency: t.String({ description: 'ISO 4217.' }),
      status: t.Enum([...linkStatuses]),
      description: t.String(),
      invoice_id: nullable(t.String({ format: 'uuid' })),
      customer_name: t.String(),
      customer_email: t.String(),
      customer_contact: t.String(),
      created_at: t.String({ format: 'date-time' }),
      expires_at: t.String({ format: 'date-time' }),
      paid_at: t.Optional(t.String({ format: 'date-time', description: 'Present when paid.' })),
      payment_record_id: t.Optional(t.String({ format: 'uuid', description: 'The payments record; present when paid.' })),
    },
    { title: 'PaymentLink', description: 'An address where a payer pays.' },
  ),
)
export type LinkView = TypeOf<typeof linkView>

/** A link as it is kept. */
export interface Link {
  readonly id: string
  readonly connection_id: string
  readonly provider: LinkView['provider']
  readonly provider_link_id: string | null
  readonly short_url: string
  readonly amount: string
  readonly currency: string
  readonly status: LinkStatus
  readonly description: string
  readonly invoice_id: string | null
  readonly redirect_url: string | null
  readonly customer_name: string
  readonly customer_email: string
  readonly customer_contact: string
  readonly created_at: string
  readonly expires_at: string
  readonly paid_at: string | null
  readonly payment_record_id: string | null
}

/** A stored link as callers read it. */
export function viewLink(link: Link): LinkView {
  const { id, connection_id, provider, short_url, currency, status, description, invoice_id, paid_at, payment_record_id } = link
  const { customer_name, customer_email, customer_contact, created_at, expires_at } = link
  return {
    ...{ id, connection_id, provider, short_url, amount: moneyText(link.amount, currency), currency, status, description, invoice_id },
    ...{ customer_name, customer_email, customer_contact, created_at, expires_at },
    ...(paid_at === null ? {} : { paid_at }),
    ...(payment_record_id === null ? {} : { payment_record_id }),
  }
}

/** An amount with at least the digits of its currency: `100.00` USD, `100` JPY, `0.125` USD. Takes decimal text without an exponent. */
export function moneyText(amount: string, currency: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const digits = fraction.replace(/0+$/, '').padEnd(currencyDigits(currency), '0')
  return digits === '' ? whole : `${whole}.${digits}`
}
