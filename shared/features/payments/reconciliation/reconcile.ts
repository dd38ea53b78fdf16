import { recordAccessFor, withRecordType } from '#shared/core/records/access.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { requireDayOrder } from '#shared/features/accounting/days.ts'
import { findPaymentEntries } from '#shared/features/accounting/entries/store.ts'
import { dateMs, dateText, startOfDay } from '#shared/features/calendar/time.ts'
import { findPaymentsOfLinks } from '#shared/features/payments/events/payments-store.ts'
import { findBreaks } from '#shared/features/payments/reconciliation/breaks.ts'
import type { Break, ReconcileQuery, Reconciliation } from '#shared/features/payments/reconciliation/schemas.ts'
import { findLinksOfSpan, findStrayRecords, type ReconciledLink, type StrayRecord } from '#shared/features/payments/reconciliation/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** Links compared per page. */
const pageSize = 500

/**
 * Compares the payments that providers have reported with the links created in a span, their payments records and ledger entries, and lists
 * each inconsistency. Calls no provider. Ids of records and entries that the caller may not read are null, and details omit their amounts.
 */
export function reconcile(scope: Scope, query: ReconcileQuery): Promise<Reconciliation> {
  for (const name of ['from', 'to'] as const) {
    if (query[name] !== undefined && !isDay(query[name])) throw problem('VALIDATION_ERROR', `${name} must be a day such as 2026-11-21`)
  }
  requireDayOrder(query.from, query.to)
  return withRecordType(scope, 'payments', async (type) => {
    const breaks: Break[] = []
    let checked = 0
    const { workspace, db } = scope
    const span = {
      from: startOfSpan(query.from, workspace.timezone, 0),
      before: startOfSpan(query.to, workspace.timezone, 1),
    }
    for (let after = { created_at: '-infinity', id: lowestId }, found = pageSize; found === pageSize; ) {
      const page = { afterTime: after.created_at, afterId: after.id, limit: pageSize }
      const links: ReconciledLink[] = await db.query(findLinksOfSpan({ workspaceId: workspace.id, ...span, ...page }))
      breaks.push(...(await findBreaksOfPage(scope, type, links)))
      checked += links.length
      found = links.length
      after = links.at(-1) ?? after
    }
    return { ok: breaks.length === 0, checked, breaks }
  })
}

/** Days outside of these bounds cannot be told apart, since no link was created on them. */
const [earliestDay, latestDay] = ['1970-01-01', '9000-01-01']

/** The instant at which the day begins in the zone, or the day after it; undefined for no day. */
function startOfSpan(day: string | undefined, zone: string, addedDays: 0 | 1): Date | undefined {
  if (day === undefined) return undefined
  const bounded = [earliestDay, day, latestDay].sort()[1] ?? day
  return new Date(startOfDay(dateText(dateMs(bounded) + addedDays * dayMs), zone))
}

async function findBreaksOfPage(scope: Scope, type: RecordType, links: readonly ReconciledLink[]): Promise<Break[]> {
  const { db, workspace } = scope
  const ids = links.map(({ id }) => id)
  const payments = await db.query(findPaymentsOfLinks({ workspaceId: workspace.id, linkIds: ids }))
  const recordIds = payments.flatMap(({ payment_record_id }) => payment_record_id ?? [])
  const records = new Map((await findRecordsByIds(scope, type, [...new Set(recordIds)])).map((record) => [record.id, record]))
  const strays = await db.query(findStrayRecords(type)({ links: ids, known: recordIds }))
  const entries = await db.query(findPaymentEntries({ workspaceId: workspace.id, recordIds }))
  const byLink = Map.groupBy(payments, ({ link_id }) => link_id)
  const straysByLink = Map.groupBy(strays, ({ link_id }) => link_id)
  const byRecord = Map.groupBy(entries, ({ source_id }) => source_id)
  const readableIds = await readableRecords(scope, type, [...records.values()], strays)
  const mayReadLedger = permits(scope, 'accounting:read')
  return links
    .flatMap((link) =>
      findBreaks({
        link,
        payments: byLink.get(link.id) ?? [],
        records,
        strays: (straysByLink.get(link.id) ?? []).map(({ id }) => id),
        entries: byRecord,
      }),
    )
    .map((one) => ({
      ...one,
      payment_record_id: one.payment_record_id !== null && readableIds.has(one.payment_record_id) ? one.payment_record_id : null,
      entry_id: mayReadLedger ? one.entry_id : null,
    }))
}

/** Ids of the records that the caller may read. */
async function readableRecords(
  scope: Scope,
  type: RecordType,
  records: readonly StoredRecord[],
  strays: readonly StrayRecord[],
): Promise<ReadonlySet<string>> {
  const access = recordAccessFor(scope, type, 'records:read')
  const others = await findRecordsByIds(
    scope,
    type,
    strays.map(({ id }) => id),
  )
  return new Set([...records, ...others].filter((record) => access.test(record)).map(({ id }) => id))
}
