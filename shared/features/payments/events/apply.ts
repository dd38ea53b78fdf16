import { notify } from '#shared/core/notifications/notify.ts'
import { findPermissionHolders } from '#shared/core/roles/permission-holders.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { createPaymentRecord } from '#shared/features/payments/events/payment-record.ts'
import {
  findLinkOfPayment,
  lockPayment,
  type ProviderPayment,
  savePaymentRecord,
  upsertPayment,
} from '#shared/features/payments/events/payments-store.ts'
import type { TimelineVerdict } from '#shared/features/payments/links/schemas.ts'
import { formatAmount } from '#shared/features/payments/links/schemas.ts'
import { type Link, lockLink, lockLinkOfProvider, markEnded, markPaid, selectLink } from '#shared/features/payments/links/store.ts'
import { appendTimeline, type TimelineEntry, type TimelineSource } from '#shared/features/payments/links/timeline.ts'
import type { LinkFacts, PaymentFact } from '#shared/features/payments/providers/facts.ts'
import { announceHappening } from '#shared/platform/events/announce.ts'
import { type Cause, causedBy } from '#shared/platform/kernel/cause.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** Where facts were learned. */
interface FactSource {
  readonly connectionId: string
  readonly source: TimelineSource
  readonly eventId?: string | null
}

/**
 * Applies a provider's facts about a link; only here do facts change links and payments records. Must run in a transaction with the
 * platform's scope. Facts may repeat and arrive in any order: a payment creates one payments record, and a paid link stays paid. Returns
 * the changed link; undefined when the facts match no link of this connection.
 */
export async function applyFacts(scope: Scope, factSource: FactSource, facts: LinkFacts): Promise<Link | undefined> {
  let link = await lockLinkOfFacts(scope, factSource, facts)
  if (!link) {
    for (const fact of facts.payments) await storeUnlinkedFact(scope, factSource, fact)
    return undefined
  }
  for (const fact of facts.payments) link = await applyPayment(scope, factSource, link, fact)
  if (facts.ended !== null)
    link = await applyEnd(scope, factSource, link, isOverdue(scope, link) ? 'expired' : facts.ended, reportOf(scope, link))
  return link
}

// An overdue link counts as expired even where its provider reports only that it is closed.
const isOverdue = ({ now }: Scope, { expires_at }: Link): boolean => Date.parse(expires_at) <= now().getTime()

/**
 * Locks the link that the facts name by our id, by the provider's id or by a payment that is already known. A link whose saved provider's
 * id differs from that of the facts does not match.
 */
async function lockLinkOfFacts(scope: Scope, { connectionId }: FactSource, facts: LinkFacts): Promise<Link | undefined> {
  const { db, workspace } = scope
  const linkId =
    facts.linkId !== null && isUuid(facts.linkId) ? facts.linkId : await findLinkIdByPayment(scope, connectionId, facts.payments)
  if (linkId === null) {
    if (facts.providerLinkId === null) return undefined
    return (await db.query(lockLinkOfProvider({ workspaceId: workspace.id, connectionId, providerLinkId: facts.providerLinkId })))[0]
  }
  const [link] = await db.query(lockLink({ workspaceId: workspace.id, id: linkId }))
  if (link?.connection_id !== connectionId) return undefined
  const isOther = facts.providerLinkId !== null && link.provider_link_id !== null && link.provider_link_id !== facts.providerLinkId
  return isOther ? undefined : link
}

/** Finds the link id of a known payment, since facts about refunds and disputes name only the payment. */
async function findLinkIdByPayment(
  { db, workspace }: Scope,
  connectionId: string,
  payments: readonly PaymentFact[],
): Promise<string | null> {
  for (const { id, state } of payments) {
    if (state !== null) continue
    const [known] = await db.query(findLinkOfPayment({ workspaceId: workspace.id, connectionId, paymentId: id }))
    if (known?.link_id) return known.link_id
  }
  return null
}

/** Stores a refund or dispute that arrived before its payment, so it can be applied when the payment is reported. */
async function storeUnlinkedFact(scope: Scope, factSource: FactSource, fact: PaymentFact): Promise<void> {
  if (fact.state !== null) return
  const { db, workspace } = scope
  const { link_id } = await savePayment(scope, factSource.connectionId, fact, { link: null, fits: false, late: false })
  if (link_id === null) return
  // The payment was reported concurrently. Read its link without a lock: the transaction that holds the lock may wait for the payment.
  const [link] = await db.query(selectLink({ workspaceId: workspace.id, id: link_id }))
  if (!link) return
  if (new Decimal(fact.refunded ?? 0).gt(0)) await appendTimeline(scope, timelineEntry(factSource, fact, link, 'refunded'))
  if (fact.disputed) await appendTimeline(scope, timelineEntry(factSource, fact, link, 'disputed'))
}

const timelineEntry = (
  { source, eventId = null }: FactSource,
  { id }: PaymentFact,
  link: Link,
  verdict: TimelineVerdict,
  after = link,
): TimelineEntry => ({
  linkId: link.id,
  source,
  eventId,
  paymentId: id,
  before: link.status,
  after: after.status,
  verdict,
})

async function applyPayment(scope: Scope, factSource: FactSource, link: Link, fact: PaymentFact): Promise<Link> {
  const { db, workspace } = scope
  const [before] = await db.query(lockPayment({ workspaceId: workspace.id, connectionId: factSource.connectionId, paymentId: fact.id }))
  const appendEntry = (verdict: TimelineVerdict, after?: Link) =>
    appendTimeline(scope, timelineEntry(factSource, fact, link, verdict, after))
  if (before?.link_id && before.link_id !== link.id) return link
  if (fact.state !== 'paid' && fact.state !== null) {
    if (factSource.source === 'webhook' && !before?.recorded_at) await appendEntry(fact.state)
    return link
  }
  const fits = fact.state === 'paid' && matchesLink(link, fact)
  const late = fits && (link.status === 'cancelled' || link.status === 'expired')
  const payment = await savePayment(scope, factSource.connectionId, fact, { link: link.id, fits, late })
  if (fact.state === 'paid' && !fits && !before?.amount) await appendEntry('amount_differs')
  const next = payment.fits && payment.recorded_at === null ? await recordPayment(scope, factSource, link, payment, appendEntry) : link
  // Append refunds and disputes that were reported before the payment's link was known.
  const known = before?.link_id ? before : undefined
  if (new Decimal(payment.refunded).gt(known?.refunded ?? 0)) await appendTimeline(scope, timelineEntry(factSource, fact, next, 'refunded'))
  if (payment.disputed && !known?.disputed) await appendTimeline(scope, timelineEntry(factSource, fact, next, 'disputed'))
  return next
}

// A payment counts only with the link's exact amount and currency (docs/contract/payments.md#link-states).
const matchesLink = (link: Link, { amount, currency }: PaymentFact): boolean =>
  amount !== null && currency === link.currency && new Decimal(amount).eq(link.amount)

interface PaymentMatch {
  readonly link: string | null
  readonly fits: boolean
  readonly late: boolean
}

async function savePayment(
  scope: Scope,
  connectionId: string,
  fact: PaymentFact,
  { link, fits, late }: PaymentMatch,
): Promise<ProviderPayment> {
  const statement = upsertPayment({
    ...fact,
    workspaceId: scope.workspace.id,
    connectionId,
    paymentId: fact.id,
    linkId: link,
    fits,
    late,
    createdAt: scope.now(),
    amount: fact.state === 'paid' ? fact.amount : null,
    paidAt: fact.state === 'paid' ? (fact.paidAt ?? scope.now()) : null,
  })
  return (await scope.db.query(statement))[0] as ProviderPayment
}

async function recordPayment(
  scope: Scope,
  { connectionId }: FactSource,
  link: Link,
  payment: ProviderPayment,
  appendEntry: (verdict: TimelineVerdict, after: Link) => Promise<void>,
): Promise<Link> {
  const { db, workspace, now } = scope
  const recordId = await createPaymentRecord(scope, link, payment)
  const paymentId = payment.provider_payment_id
  await db.query(savePaymentRecord({ workspaceId: workspace.id, connectionId, paymentId, recordId, recordedAt: now() }))
  const [paid] = await db.query(markPaid({ workspaceId: workspace.id, id: link.id, paidAt: payment.paid_at, paymentRecordId: recordId }))
  const verdict = !paid ? 'paid_again' : payment.late ? 'paid_late' : 'paid'
  await appendEntry(verdict, paid ?? link)
  if (paid) await announceLink(scope, paid, reportOf(scope, paid))
  if (verdict !== 'paid') await notifyManagers(scope, verdict, link, payment, recordId)
  return paid ?? link
}

const titles = { paid_late: 'Money arrived for a payment link that had ended', paid_again: 'A payment link was paid twice' }

async function notifyManagers(
  scope: Scope,
  verdict: keyof typeof titles,
  link: Link,
  payment: ProviderPayment,
  recordId: string,
): Promise<void> {
  const notice = {
    title: titles[verdict],
    record: { type: 'payments', id: recordId },
    event: `payment.${verdict}`,
    key: `payment ${verdict} ${link.id} ${payment.provider_payment_id}`,
  }
  await notify(scope, await findPermissionHolders(scope, 'payments:manage'), [notice])
}

/** Ends an open link; a paid or ended link stays unchanged. The event has the given cause. */
export async function applyEnd(
  scope: Scope,
  factSource: FactSource,
  link: Link,
  ended: 'cancelled' | 'expired',
  cause: Cause,
): Promise<Link> {
  const [after] = await scope.db.query(markEnded({ workspaceId: scope.workspace.id, id: link.id, status: ended }))
  if (!after) return link
  const { source, eventId = null } = factSource
  await appendTimeline(scope, { linkId: link.id, source, eventId, before: link.status, after: after.status, verdict: ended })
  await announceLink(scope, after, cause)
  return after
}

/** The cause of an outcome that a provider reports: the link, also where a caller's request asked the provider. */
const reportOf = ({ cause }: Scope, { id }: Link): Cause => causedBy(cause, 'payment', id)

const announceLink = (scope: Scope, { id, status, amount, currency }: Link, cause: Cause): Promise<void> =>
  announceHappening(
    { ...scope, cause },
    { type: `payments.link.${status}`, subject: { id }, data: { amount: formatAmount(amount, currency), currency } },
  )
