import { Decimal } from '#shared/kernel/decimal.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { notify } from '#shared/notifications/notify.ts'
import type { Link } from '#shared/payments/link.ts'
import type { LinkFacts, PaymentFact } from '#shared/payments/providers/facts.ts'
import { createPaymentRecord } from '#shared/payments/record.ts'
import { findLinkRow, lockLinkOfProvider, lockLinkRow, markEnded, markPaid } from '#shared/payments/store/links-store.ts'
import { findLinkOfPayment, lockPayment, noteRecord, type ProviderPayment, putPayment } from '#shared/payments/store/payments-store.ts'
import { type Line, type Source, type Verdict, writeLine } from '#shared/payments/timeline.ts'
import { holdersOf } from '#shared/roles/holders.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Where facts come from. */
export interface Told {
  readonly connectionId: string
  readonly source: Source
  readonly eventId?: string | null
}

/**
 * Applies what a provider says of a link: the one place where money changes anything here. It must stand in a transaction, and the scope is
 * the platform's. However often and in whatever order facts come, a payment makes one payments record, and a paid link stays paid. Gives
 * the link as it is afterwards; undefined when the facts are about none of this connection's.
 */
export async function applyFacts(scope: Scope, told: Told, facts: LinkFacts): Promise<Link | undefined> {
  let link = await lockLinkOf(scope, told, facts)
  if (!link) {
    for (const fact of facts.payments) await noteAside(scope, told, fact)
    return undefined
  }
  for (const fact of facts.payments) link = await applyPayment(scope, told, link, fact)
  if (facts.ended !== null) link = await applyEnd(scope, told, link, isOverdue(scope, link) ? 'expired' : facts.ended)
  return link
}

/** A link whose time is up has expired, also where its provider can only say that nobody may pay it any more. */
const isOverdue = ({ now }: Scope, { expires_at }: Link): boolean => Date.parse(expires_at) <= now().getTime()

/** A provider repeats our id where it can; where it names its own as well, both must be of one link. */
async function lockLinkOf(scope: Scope, { connectionId }: Told, facts: LinkFacts): Promise<Link | undefined> {
  const { db, workspace } = scope
  const linkId = facts.linkId !== null && isUuid(facts.linkId) ? facts.linkId : await linkOfPayments(scope, connectionId, facts.payments)
  if (linkId === null) {
    if (facts.providerLinkId === null) return undefined
    return (await db.query<Link>(lockLinkOfProvider(workspace.id, connectionId, facts.providerLinkId)))[0]
  }
  const [link] = await db.query<Link>(lockLinkRow(workspace.id, linkId))
  if (link?.connection_id !== connectionId) return undefined
  const isOther = facts.providerLinkId !== null && link.provider_link_id !== null && link.provider_link_id !== facts.providerLinkId
  return isOther ? undefined : link
}

/** What is told of a refund or a dispute names the payment alone. */
async function linkOfPayments({ db, workspace }: Scope, connectionId: string, payments: readonly PaymentFact[]): Promise<string | null> {
  for (const { id, state } of payments) {
    if (state !== null) continue
    const [known] = await db.query<{ link_id: string | null }>(findLinkOfPayment(workspace.id, connectionId, id))
    if (known?.link_id) return known.link_id
  }
  return null
}

/** A refund or dispute of a payment that nobody has told of yet waits for it. */
async function noteAside(scope: Scope, told: Told, fact: PaymentFact): Promise<void> {
  if (fact.state !== null) return
  const { db, workspace } = scope
  const { link_id } = await put(scope, told.connectionId, fact, { link: null, fits: false, late: false })
  if (link_id === null) return
  // The payment was told of at this moment. Its link is only read: whoever has locked it may wait for the payment.
  const [link] = await db.query<Link>(findLinkRow(workspace.id, link_id))
  if (!link) return
  if (new Decimal(fact.refunded ?? 0).gt(0)) await writeLine(scope, lineOf(told, fact, link, 'refunded'))
  if (fact.disputed) await writeLine(scope, lineOf(told, fact, link, 'disputed'))
}

const lineOf = ({ source, eventId = null }: Told, { id }: PaymentFact, link: Link, verdict: Verdict, after = link): Line => ({
  ...{ linkId: link.id, source, eventId, paymentId: id },
  ...{ before: link.status, after: after.status, verdict },
})

async function applyPayment(scope: Scope, told: Told, link: Link, fact: PaymentFact): Promise<Link> {
  const { db, workspace } = scope
  const [before] = await db.query<ProviderPayment>(lockPayment(workspace.id, told.connectionId, fact.id))
  const line = (verdict: Verdict, after?: Link) => writeLine(scope, lineOf(told, fact, link, verdict, after))
  if (before?.link_id && before.link_id !== link.id) return link
  if (fact.state !== 'paid' && fact.state !== null) {
    if (told.source === 'webhook' && !before?.recorded_at) await line(fact.state)
    return link
  }
  const fits = fact.state === 'paid' && isFor(link, fact)
  const late = fits && (link.status === 'cancelled' || link.status === 'expired')
  const payment = await put(scope, told.connectionId, fact, { link: link.id, fits, late })
  if (fact.state === 'paid' && !fits && !before?.amount) await line('amount_differs')
  const next = payment.fits && payment.recorded_at === null ? await recordPayment(scope, told, link, payment, line) : link
  // What was told before the payment's link was known is told of it now.
  const known = before?.link_id ? before : undefined
  if (new Decimal(payment.refunded).gt(known?.refunded ?? 0)) await writeLine(scope, lineOf(told, fact, next, 'refunded'))
  if (payment.disputed && !known?.disputed) await writeLine(scope, lineOf(told, fact, next, 'disputed'))
  return next
}

/** Paid means paid for this link: its amount and its currency, to the last digit (decisions, Payments). */
const isFor = (link: Link, { amount, currency }: PaymentFact): boolean =>
  amount !== null && currency === link.currency && new Decimal(amount).eq(link.amount)

interface Placed {
  readonly link: string | null
  readonly fits: boolean
  readonly late: boolean
}

async function put(scope: Scope, connectionId: string, fact: PaymentFact, { link, fits, late }: Placed): Promise<ProviderPayment> {
  const { amount, currency, payerName, payerEmail, refunded, disputed } = fact
  const paidAt = fact.state === 'paid' ? (fact.paidAt ?? scope.now()) : null
  const known = [fact.state === 'paid' ? amount : null, currency, paidAt, payerName, payerEmail, fits, late, refunded, disputed]
  const statement = putPayment(scope.workspace.id, connectionId, fact.id, link, ...known, scope.now())
  return (await scope.db.query<ProviderPayment>(statement))[0] as ProviderPayment
}

async function recordPayment(
  scope: Scope,
  { connectionId }: Told,
  link: Link,
  payment: ProviderPayment,
  line: (verdict: Verdict, after: Link) => Promise<void>,
): Promise<Link> {
  const { db, workspace, now } = scope
  const recordId = await createPaymentRecord(scope, link, payment)
  await db.query(noteRecord(workspace.id, connectionId, payment.provider_payment_id, recordId, now()))
  const [paid] = await db.query<Link>(markPaid(workspace.id, link.id, payment.paid_at, recordId))
  const verdict = !paid ? 'paid_again' : payment.late ? 'paid_late' : 'paid'
  await line(verdict, paid ?? link)
  if (verdict !== 'paid') await tellManagers(scope, verdict, link, payment, recordId)
  return paid ?? link
}

const titles = { paid_late: 'Money came for a payment link that had ended', paid_again: 'A payment link was paid twice' }

async function tellManagers(
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
  await notify(scope, await holdersOf(scope, 'payments:manage'), [notice])
}

/** Ends a link that is open, and only that. */
export async function applyEnd(scope: Scope, told: Told, link: Link, ended: 'cancelled' | 'expired'): Promise<Link> {
  const [after] = await scope.db.query<Link>(markEnded(scope.workspace.id, link.id, ended))
  if (!after) return link
  const { source, eventId = null } = told
  await writeLine(scope, { linkId: link.id, source, eventId, before: link.status, after: after.status, verdict: ended })
  return after
}
