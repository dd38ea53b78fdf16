import { recordAccessFor, withRecordType } from '#shared/core/records/access.ts'
import { compileQuery } from '#shared/core/records/query/query.ts'
import { sumRecords } from '#shared/core/records/query/sum-records.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { dayInZone } from '#shared/features/calendar/time.ts'
import { formatAmount, linkStatuses } from '#shared/features/payments/links/schemas.ts'
import { countLinks } from '#shared/features/payments/links/store.ts'
import type { PaymentsOverview } from '#shared/features/payments/overview/schemas.ts'
import { type Receivables, receivablesStatement } from '#shared/features/payments/overview/store.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'

/**
 * Receivables and collected payments, from the invoices and payments that the caller may read. An invoice whose total, status or due date
 * is hidden from the caller is omitted, and so is a payment whose amount or time is hidden.
 */
export async function readPaymentsOverview(scope: Scope): Promise<PaymentsOverview> {
  const counts = await readRows(scope, asSearch(countLinks({ workspaceId: scope.workspace.id }), 'the overview'))
  const byStatus = new Map(counts.map(({ status, count }) => [status, Number(count)]))
  return {
    ...formatReceivables(await readReceivables(scope)),
    collected: await readCollected(scope),
    links: Object.fromEntries(linkStatuses.map((status) => [status, byStatus.get(status) ?? 0])) as PaymentsOverview['links'],
  }
}

const noReceivables: Receivables = { currencies: [], debtors: [], oldest: [] }

const readReceivables = (scope: Scope): Promise<Receivables> =>
  withRecordType(scope, 'invoices', (invoices) =>
    withRecordType(scope, 'payments', async (payments) => {
      const access = {
        invoices: recordAccessFor(scope, invoices, 'records:read'),
        payments: recordAccessFor(scope, payments, 'records:read'),
      }
      if (access.invoices.verdict === 'none') return noReceivables
      const open = await compileQuery(scope, invoices, access.invoices, {
        seeing: ['total', 'status', 'due_date'],
        filter: { field: 'status', op: 'eq', value: 'open' },
      })
      const paid = await compileQuery(scope, payments, access.payments, { seeing: ['amount', 'invoice_id'] })
      const statement = receivablesStatement(
        { type: invoices, access: access.invoices, query: open },
        { type: payments, access: access.payments, query: paid },
      )
      const [row] = await readRows(scope, asSearch(statement(dayInZone(scope.now().getTime(), scope.workspace.timezone)), 'the overview'))
      return row ?? noReceivables
    }),
  )

async function readCollected(scope: Scope): Promise<PaymentsOverview['collected']> {
  const isReadable = await withRecordType(
    scope,
    'payments',
    async (type) => recordAccessFor(scope, type, 'records:read').verdict !== 'none',
  )
  if (!isReadable) return []
  const groups = await sumRecords(scope, 'payments', {
    seeing: ['amount', 'paid_at'],
    sums: ['amount'],
    by: [{ field: 'paid_at', span: 'month', timeZone: scope.workspace.timezone }],
  })
  return groups.flatMap(({ by: [month], sums }) =>
    typeof month !== 'string'
      ? []
      : (sums.amount ?? []).map(({ code, amount }) => ({ month, currency: code ?? '', amount: formatAmount(amount, code ?? '') })),
  )
}

function formatReceivables({
  currencies,
  debtors,
  oldest,
}: Receivables): Pick<PaymentsOverview, 'receivables' | 'aging' | 'top_debtors' | 'oldest_overdue'> {
  return {
    receivables: currencies.map(({ currency, open, overdue, count }) => ({
      currency,
      open: formatAmount(open, currency),
      overdue: formatAmount(overdue, currency),
      count,
    })),
    aging: currencies.map(({ currency, current, d1_30, d31_60, d61_90, d90_plus }) => ({
      currency,
      current: formatAmount(current, currency),
      d1_30: formatAmount(d1_30, currency),
      d31_60: formatAmount(d31_60, currency),
      d61_90: formatAmount(d61_90, currency),
      d90_plus: formatAmount(d90_plus, currency),
    })),
    top_debtors: debtors.map(({ open, ...debtor }) => ({ ...debtor, open: formatAmount(open, debtor.currency) })),
    oldest_overdue: oldest.map(({ amount, ...invoice }) => ({ ...invoice, amount: formatAmount(amount, invoice.currency) })),
  }
}
