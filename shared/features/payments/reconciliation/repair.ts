import { withRecordType } from '#shared/core/records/access.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { createPaymentRecord } from '#shared/features/payments/events/payment-record.ts'
import { findPaymentsOfLinks, type ProviderPayment, savePaymentRecord } from '#shared/features/payments/events/payments-store.ts'
import { platformScope } from '#shared/features/payments/links/change.ts'
import { type Link, lockLink, replacePaymentRecord } from '#shared/features/payments/links/store.ts'
import { appendTimeline } from '#shared/features/payments/links/timeline.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/**
 * Creates the missing payments records of a link's payments and changes nothing else. Repeated and concurrent calls create no duplicates.
 * Throws NOT_FOUND.
 */
export async function repairLink(scope: Scope, linkId: string): Promise<{ repaired: number }> {
  if (!isUuid(linkId)) throw problem('NOT_FOUND')
  const platform = platformScope(scope)
  return withRecordType(platform, 'payments', (type) =>
    platform.db.transaction(async (tx) => {
      const inside = within(platform, tx)
      const { workspace } = platform
      const link = requireRow(await tx.query(lockLink({ workspaceId: workspace.id, id: linkId })))
      const payments = await tx.query(findPaymentsOfLinks({ workspaceId: workspace.id, linkIds: [linkId] }))
      const recorded = payments.filter(({ recorded_at }) => recorded_at !== null)
      const ids = recorded.flatMap(({ payment_record_id }) => payment_record_id ?? [])
      const existingIds = new Set((await findRecordsByIds(inside, type, ids)).map(({ id }) => id))
      const missing = recorded.filter(({ payment_record_id }) => payment_record_id === null || !existingIds.has(payment_record_id))
      for (const payment of missing) await recreateRecord(inside, link, payment)
      return { repaired: missing.length }
    }),
  )
}

async function recreateRecord(scope: Scope, link: Link, payment: ProviderPayment): Promise<void> {
  const { db, workspace, now } = scope
  const recordId = await createPaymentRecord(scope, link, payment)
  const { connection_id: connectionId, provider_payment_id: paymentId } = payment
  await db.query(savePaymentRecord({ workspaceId: workspace.id, connectionId, paymentId, recordId, recordedAt: now() }))
  if (link.payment_record_id === payment.payment_record_id)
    await db.query(replacePaymentRecord({ workspaceId: workspace.id, id: link.id, paymentRecordId: recordId }))
  const { id: linkId, status } = link
  await appendTimeline(scope, { linkId, source: 'person', paymentId, before: status, after: status, verdict: 'repaired' })
}
