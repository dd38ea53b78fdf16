import type { FieldValue } from '#shared/kernel/field-type.ts'
import type { Link } from '#shared/payments/link.ts'
import type { ProviderPayment } from '#shared/payments/store/payments-store.ts'
import { createForPlatform } from '#shared/records/create-for-platform.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { emailKind } from '#shared/types/fields/address.ts'
import { amountOfCell } from '#shared/types/fields/number.ts'

/** The most characters of a string field. */
const mostCharacters = 500

/** Makes the payments record of a payment (decisions, Payments) and gives its id. The scope is the platform's. */
export async function createPaymentRecord(scope: Scope, link: Link, payment: ProviderPayment): Promise<string> {
  const values: Record<string, FieldValue> = {
    amount: { amount: amountOfCell(payment.amount ?? link.amount), code: payment.currency ?? link.currency },
    invoice_id: link.invoice_id,
    paid_at: payment.paid_at,
    provider: link.provider,
    reference: payment.provider_payment_id,
    link_id: link.id,
    payer_name: cut(payment.payer_name || link.customer_name),
    payer_email: mailOf(payment.payer_email) ?? mailOf(link.customer_email),
  }
  return (await createForPlatform(scope, 'payments', values)).id
}

const cut = (text: string): string | null => [...text].slice(0, mostCharacters).join('') || null

/** What a provider gives as an address may be none. */
function mailOf(text: string): string | null {
  try {
    return emailKind.parse(text, { type: 'email', rules: {} }, { path: 'payer_email', defaultCurrency: '' })
  } catch {
    return null
  }
}
