import { createSystemRecord } from '#shared/core/records/create/create-system-record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { emailKind } from '#shared/core/types/field-kinds/address.ts'
import { trimAmount } from '#shared/core/types/field-kinds/number.ts'
import type { ProviderPayment } from '#shared/features/payments/events/payments-store.ts'
import type { Link } from '#shared/features/payments/links/store.ts'
import { causedBy } from '#shared/platform/kernel/cause.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Maximum length of a string field in characters. */
const maxStringLength = 500

/**
 * Creates the payments record of a payment (docs/contract/payments.md#payment-records) and returns its id. The scope must be the
 * platform's.
 */
export async function createPaymentRecord(scope: Scope, link: Link, payment: ProviderPayment): Promise<string> {
  const values: Record<string, FieldValue> = {
    amount: { amount: trimAmount(payment.amount ?? link.amount), code: payment.currency ?? link.currency },
    invoice_id: link.invoice_id,
    paid_at: payment.paid_at,
    provider: link.provider,
    reference: payment.provider_payment_id,
    link_id: link.id,
    payer_name: truncate(payment.payer_name || link.customer_name),
    payer_email: validEmail(payment.payer_email) ?? validEmail(link.customer_email),
  }
  return (await createSystemRecord({ ...scope, cause: causedBy(scope.cause, 'payment', link.id) }, 'payments', values)).id
}

const truncate = (text: string): string | null => cutText(text, maxStringLength) || null

/** The address as fields of type email hold it; null for an invalid one, which a provider may report. */
function validEmail(text: string): string | null {
  try {
    return emailKind.parse(text, { type: 'email', rules: {} }, { path: 'payer_email', defaultCurrency: '' })
  } catch {
    return null
  }
}
