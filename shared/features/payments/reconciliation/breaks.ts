import type { StoredRecord } from '#shared/core/records/record.ts'
import type { PaymentEntry } from '#shared/features/accounting/entries/store.ts'
import type { ProviderPayment } from '#shared/features/payments/events/payments-store.ts'
import { formatAmount } from '#shared/features/payments/links/schemas.ts'
import type { Break } from '#shared/features/payments/reconciliation/schemas.ts'
import type { ReconciledLink } from '#shared/features/payments/reconciliation/store.ts'
import type { Money } from '#shared/platform/kernel/field-type.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** The data about a link that is compared. */
interface LinkEvidence {
  readonly link: ReconciledLink
  /** Payments reported by the provider. */
  readonly payments: readonly ProviderPayment[]
  /** Payments records by id. */
  readonly records: ReadonlyMap<string, StoredRecord>
  /** Ids of records that the platform created and that have no payment. */
  readonly strays: readonly string[]
  /** Active ledger entries by the id of their payments record. */
  readonly entries: ReadonlyMap<string | null, readonly PaymentEntry[]>
}

/** Finds every inconsistency of one link. Details contain amounts of provider payments and links only, never of records or entries. */
export function findBreaks(evidence: LinkEvidence): Break[] {
  const { link, payments, strays } = evidence
  const recorded = payments.filter(({ recorded_at }) => recorded_at !== null)
  return [
    ...payments.flatMap((payment) =>
      payment.recorded_at === null ? findUnrecordedBreaks(link, payment) : findRecordedBreaks(evidence, payment),
    ),
    ...strays.map((id) => buildBreak('record_without_money', link, 'the provider reported no payment for this record', id)),
    ...(recorded.length > 1 ? [buildBreak('two_payments_one_link', link, `${recorded.length} payments arrived on the link`)] : []),
  ]
}

// A payment that does not fit its link is not recorded, but the provider holds its money.
const findUnrecordedBreaks = (link: ReconciledLink, { amount, currency, provider_payment_id }: ProviderPayment): Break[] =>
  amount === null || currency === null
    ? []
    : [
        buildBreak(
          'amount_differs',
          link,
          `payment ${provider_payment_id} is of ${formatMoney(amount, currency)}, the link of ${formatMoney(link.amount, link.currency)}`,
        ),
      ]

function findRecordedBreaks({ link, records, entries }: LinkEvidence, payment: ProviderPayment): Break[] {
  const { provider_payment_id: name, payment_record_id: recordId, refunded, disputed, late } = payment
  const record = recordId === null ? undefined : records.get(recordId)
  const lossDetails = [
    ...(new Decimal(refunded).gt(0) ? [`${formatMoney(refunded, payment.currency ?? link.currency)} of payment ${name} was refunded`] : []),
    ...(disputed ? [`the payer disputes payment ${name}`] : []),
  ]
  return [
    ...(record ? [] : [buildBreak('paid_without_record', link, `there is no payments record of payment ${name}`)]),
    ...(record ? lossDetails.map((detail) => buildBreak('record_without_money', link, detail, record.id)) : []),
    ...(record ? findAmountBreaks(link, payment, record, entries.get(record.id) ?? []) : []),
    ...(late ? [buildBreak('paid_after_end', link, `payment ${name} arrived after the link had ended`, record?.id)] : []),
  ]
}

function findAmountBreaks(link: ReconciledLink, payment: ProviderPayment, record: StoredRecord, entries: readonly PaymentEntry[]): Break[] {
  const paid = { amount: payment.amount ?? '0', currency: payment.currency ?? '' }
  const name = `payment ${payment.provider_payment_id} of ${formatMoney(paid.amount, paid.currency)}`
  const { amount = null } = record.values
  const recordMoney = typeof amount === 'object' && amount !== null && 'code' in amount ? (amount as Money) : null
  const hasOtherAmount = recordMoney === null || recordMoney.code !== paid.currency || !new Decimal(recordMoney.amount).eq(paid.amount)
  return [
    ...(hasOtherAmount ? [buildBreak('amount_differs', link, `the payments record of ${name} has another amount`, record.id)] : []),
    ...entries
      .filter(({ total, currency }) => currency !== paid.currency || !new Decimal(total).eq(paid.amount))
      .map(({ id }) => buildBreak('amount_differs', link, `the ledger entry of ${name} has another amount`, record.id, id)),
  ]
}

const formatMoney = (amount: string, currency: string): string => `${formatAmount(amount, currency)} ${currency}`

const buildBreak = (kind: Break['kind'], link: ReconciledLink, detail: string, recordId?: string, entryId?: string): Break => ({
  kind,
  link_id: link.id,
  payment_record_id: recordId ?? null,
  entry_id: entryId ?? null,
  detail,
})
