import type { PaymentEntry } from '#shared/accounting/store/of-payments.ts'
import { Decimal } from '#shared/kernel/decimal.ts'
import type { Money } from '#shared/kernel/field-type.ts'
import { moneyText } from '#shared/payments/link.ts'
import type { Break } from '#shared/payments/reconcile-shape.ts'
import type { ProviderPayment } from '#shared/payments/store/payments-store.ts'
import type { ReconciledLink } from '#shared/payments/store/reconcile-statements.ts'
import type { StoredRecord } from '#shared/records/record.ts'

/** What is known of a link. */
export interface Evidence {
  readonly link: ReconciledLink
  /** What its provider has told. */
  readonly payments: readonly ProviderPayment[]
  /** Payments records by their ids. */
  readonly records: ReadonlyMap<string, StoredRecord>
  /** Records that the platform made and no payment stands behind. */
  readonly strays: readonly string[]
  /** Active ledger entries by the payments record that they were posted for. */
  readonly entries: ReadonlyMap<string, readonly PaymentEntry[]>
}

/** Everything that does not fit together about one link. Details name amounts of providers, links and nothing else. */
export function breaksOf(evidence: Evidence): Break[] {
  const { link, payments, strays } = evidence
  const recorded = payments.filter(({ recorded_at }) => recorded_at !== null)
  return [
    ...payments.flatMap((payment) => (payment.recorded_at === null ? breaksOfUnfit(link, payment) : breaksOfPayment(evidence, payment))),
    ...strays.map((id) => broken('record_without_money', link, 'the provider has told of no payment of this record', id)),
    ...(recorded.length > 1 ? [broken('two_payments_one_link', link, `${recorded.length} payments came on the link`)] : []),
  ]
}

/** A payment that is not for the link's amount changed nothing; the money is at the provider all the same. */
const breaksOfUnfit = (link: ReconciledLink, { amount, currency, provider_payment_id }: ProviderPayment): Break[] =>
  amount === null || currency === null
    ? []
    : [
        broken(
          'amount_differs',
          link,
          `payment ${provider_payment_id} is of ${show(amount, currency)}, the link of ${show(link.amount, link.currency)}`,
        ),
      ]

function breaksOfPayment({ link, records, entries }: Evidence, payment: ProviderPayment): Break[] {
  const { provider_payment_id: name, payment_record_id: recordId, refunded, disputed, late } = payment
  const record = recordId === null ? undefined : records.get(recordId)
  const lost = [
    ...(new Decimal(refunded).gt(0)
      ? [`${show(refunded, payment.currency ?? link.currency)} of payment ${name} went back to the payer`]
      : []),
    ...(disputed ? [`the payer disputes payment ${name}`] : []),
  ]
  return [
    ...(record ? [] : [broken('paid_without_record', link, `there is no payments record of payment ${name}`)]),
    ...(record ? lost.map((detail) => broken('record_without_money', link, detail, record.id)) : []),
    ...(record ? breaksOfAmounts(link, payment, record, entries.get(record.id) ?? []) : []),
    ...(late ? [broken('paid_after_end', link, `payment ${name} came after the link had ended`, record?.id)] : []),
  ]
}

function breaksOfAmounts(link: ReconciledLink, payment: ProviderPayment, record: StoredRecord, entries: readonly PaymentEntry[]): Break[] {
  const told = { amount: payment.amount ?? '0', currency: payment.currency ?? '' }
  const name = `payment ${payment.provider_payment_id} of ${show(told.amount, told.currency)}`
  const { amount = null } = record.values
  const held = typeof amount === 'object' && amount !== null && 'code' in amount ? (amount as Money) : null
  const isRecordOff = held === null || held.code !== told.currency || !new Decimal(held.amount).eq(told.amount)
  return [
    ...(isRecordOff ? [broken('amount_differs', link, `the payments record of ${name} has another amount`, record.id)] : []),
    ...entries
      .filter(({ total, currency }) => currency !== told.currency || !new Decimal(total).eq(told.amount))
      .map(({ id }) => broken('amount_differs', link, `the ledger entry of ${name} has another amount`, record.id, id)),
  ]
}

const show = (amount: string, currency: string): string => `${moneyText(amount, currency)} ${currency}`

const broken = (kind: Break['kind'], link: ReconciledLink, detail: string, recordId?: string, entryId?: string): Break => ({
  kind,
  link_id: link.id,
  payment_record_id: recordId ?? null,
  entry_id: entryId ?? null,
  detail,
})
