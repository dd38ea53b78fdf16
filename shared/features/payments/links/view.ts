import { formatAmount, type LinkView } from '#shared/features/payments/links/schemas.ts'
import type { Link } from '#shared/features/payments/links/store.ts'

/** Converts a stored link to the answer's shape. */
export function viewLink(link: Link): LinkView {
  const { id, connection_id, provider, short_url, currency, status, description, invoice_id, paid_at, payment_record_id } = link
  const { customer_name, customer_email, customer_contact, created_at, expires_at } = link
  return {
    id,
    connection_id,
    provider,
    short_url,
    amount: formatAmount(link.amount, currency),
    currency,
    status,
    description,
    invoice_id,
    customer_name,
    customer_email,
    customer_contact,
    created_at,
    expires_at,
    ...(paid_at === null ? {} : { paid_at }),
    ...(payment_record_id === null ? {} : { payment_record_id }),
  }
}
