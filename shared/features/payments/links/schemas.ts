import { parseAmount } from '#shared/core/types/field-kinds/number.ts'
import { providerNames } from '#shared/features/payments/connections/schemas.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { currencyDigits } from '#shared/platform/kernel/values/currency.ts'

/** The statuses of a link (docs/contract/payments.md#link-states). */
export const linkStatuses = ['created', 'paid', 'cancelled', 'expired'] as const
export type LinkStatus = (typeof linkStatuses)[number]

const text = (maxLength: number, description?: string) =>
  t.Optional(nullable(t.String({ maxLength, ...(description === undefined ? {} : { description }) })))

const inputFields = {
  connection_id: t.String({ description: 'Id of the connection that collects the payment.' }),
  currency: text(3, "ISO 4217; by default the invoice's currency, else the workspace's default currency."),
  description: text(500, 'Shown to the payer.'),
  invoice_id: text(36, 'Id of an invoices record that the caller may read.'),
  redirect_url: text(2_000, "Where the payer is sent after paying: an absolute http(s) address; the connection's by default."),
  customer_name: text(200),
  customer_email: text(320),
  customer_contact: text(50),
  expires_at: text(40, 'When the link expires: an instant at most 180 days ahead; 30 days ahead by default.'),
}

/** Input of a link (docs/contract/payments.md#creating-a-link). `new-link.ts` checks what the schema cannot. */
export const linkInput = schema(
  t.Object(
    {
      ...inputFields,
      amount: t.Optional(t.Unknown({ description: 'A positive decimal, as text or as a number; the total of the invoice by default.' })),
    },
    { title: 'PaymentLinkInput' },
  ),
)
export type LinkInput = TypeOf<typeof linkInput>

/** The link input in a job's payload. The amount is decimal text, since a JSON number would lose digits. */
export const linkRequest = t.Object({ ...inputFields, amount: nullable(t.String()) })
export type LinkRequest = TypeOf<ReturnType<typeof schema<typeof linkRequest>>>

/** Converts the input to a job's payload. Throws VALIDATION_ERROR for an amount that is no decimal or not above zero. */
export function readLinkInput(input: LinkInput): LinkRequest {
  const { amount, ...others } = input
  if (amount === undefined || amount === null || amount === '') return { ...others, amount: null }
  const read = parseAmount(amount, 'amount')
  if (!/[1-9]/.test(read) || read.startsWith('-')) throw problem('VALIDATION_ERROR', `amount must be above zero, got ${read}`)
  return { ...others, amount: read }
}

/** A link as callers read it (docs/contract/payments.md#links). */
export const linkView = schema(
  t.Object(
    {
      id: uuid,
      connection_id: uuid,
      provider: t.Enum([...providerNames]),
      short_url: t.String({ description: 'Address of the pay page for the customer; empty until the provider has answered.' }),
      amount: t.String({ description: 'Decimal text.' }),
      currency: t.String({ description: 'ISO 4217.' }),
      status: t.Enum([...linkStatuses]),
      description: t.String(),
      invoice_id: nullable(uuid),
      customer_name: t.String(),
      customer_email: t.String(),
      customer_contact: t.String(),
      created_at: instant,
      expires_at: instant,
      paid_at: t.Optional(t.String({ format: 'date-time', description: 'Present when paid.' })),
      payment_record_id: t.Optional(t.String({ format: 'uuid', description: 'The payments record; present when paid.' })),
    },
    { title: 'PaymentLink', description: 'A page at a provider where a customer pays an amount.' },
  ),
)
export type LinkView = TypeOf<typeof linkView>

/** Page of a list of links (docs/contract/payments.md#link-list). */
export const linkQuery = schema(t.Object(cursorParameters({ maximum: 100, cursor: 'The id of the last link of the previous page.' })))
export type LinkQuery = TypeOf<typeof linkQuery>

/** What a timeline entry says, with the meaning that the API description gives. */
const timelineVerdicts = {
  created: 'the provider created the link',
  no_answer: 'the provider did not answer; the link may have been created',
  unpaid: 'a payment was started; the money has not arrived yet',
  failed: 'a payment failed',
  paid: 'the link is paid',
  paid_late: 'money arrived after the link had ended; the link is paid',
  paid_again: 'a second payment arrived on the same link',
  amount_differs: 'a payment of another amount or currency; link and record are unchanged',
  refunded: 'money was refunded; link and record are unchanged',
  disputed: 'the payer disputes the payment; link and record are unchanged',
  cancelled: 'the link was cancelled',
  expired: 'the link expired',
  repaired: 'a missing payments record was created',
  unchanged: 'a refresh found nothing new',
} as const
export type TimelineVerdict = keyof typeof timelineVerdicts

const linkStatus = t.Enum([...linkStatuses])

/** The timeline of a link (docs/contract/payments.md#timeline). */
export const timeline = schema(
  t.Array(
    t.Object(
      {
        at: instant,
        source: t.Enum(['person', 'webhook', 'refresh', 'sweep'], { description: 'How the change was learned.' }),
        provider_event_id: nullable(t.String()),
        provider_payment_id: nullable(t.String()),
        before: nullable(linkStatus),
        after: linkStatus,
        verdict: t.Enum(Object.keys(timelineVerdicts) as TimelineVerdict[], {
          description: Object.entries(timelineVerdicts)
            .map(([verdict, meaning]) => `${verdict}: ${meaning}`)
            .join('; '),
        }),
      },
      { title: 'PaymentTimelineEntry' },
    ),
  ),
)
export type Timeline = TypeOf<typeof timeline>

/** Formats decimal text without an exponent, with at least the fraction digits of its currency: `100.00` USD, `100` JPY, `0.125` USD. */
export function formatAmount(amount: string, currency: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const digits = fraction.replace(/0+$/, '').padEnd(currencyDigits(currency), '0')
  return digits === '' ? whole : `${whole}.${digits}`
}
