import { heavy } from '#shared/db/statement.ts'
import { type LinkStatus, linkStatuses, moneyText } from '#shared/payments/link.ts'
import type { Overview } from '#shared/payments/overview-shape.ts'
import { countLinks } from '#shared/payments/store/links-store.ts'
import { type Receivables, receivablesOf } from '#shared/payments/store/receivables-statements.ts'
import { accessTo, withRecordType } from '#shared/records/picture.ts'
import { compileQuery } from '#shared/records/query.ts'
import { sumRecords } from '#shared/records/sum.ts'
import { readRows, type Scope } from '#shared/scope/scope.ts'

/**
 * What is owed and what came in, of the invoices and payments that the caller may read. An invoice whose total, status or due date is
 * hidden from it is left out, and so is a payment whose amount or time is.
 */
export async function readOverview(scope: Scope): Promise<Overview> {
  const counts = await readRows<{ status: LinkStatus; count: number }>(scope, countLinks(scope.workspace.id))
  const byStatus = new Map(counts.map(({ status, count }) => [status, Number(count)]))
  return {
    ...shown(await readReceivables(scope)),
    collected: await readCollected(scope),
    links: Object.fromEntries(linkStatuses.map((status) => [status, byStatus.get(status) ?? 0])) as Overview['links'],
  }
}

const nothing: Receivables = { currencies: [], debtors: [], oldest: [] }

const readReceivables = (scope: Scope): Promise<Receivables> =>
  withRecordType(scope, 'invoices', (invoices) =>
    withRecordType(scope, 'payments', async (payments) => {
      const access = { invoices: accessTo(scope, invoices, 'records:read'), payments: accessTo(scope, payments, 'records:read') }
      if (access.invoices.verdict === 'none') return nothing
      const open = compileQuery(scope, invoices, access.invoices, {
        seeing: ['total', 'status', 'due_date'],
        filters: [{ field: 'status', op: 'eq', value: 'open' }],
      })
      const paid = compileQuery(scope, payments, access.payments, { seeing: ['amount', 'invoice_id'] })
      const statement = receivablesOf(
        { type: invoices, access: access.invoices, query: open },
        { type: payments, access: access.payments, query: paid },
      )
      const [row] = await readRows<Receivables>(scope, heavy(statement(scope.now(), scope.workspace.timezone), 'the overview'))
      return row ?? nothing
    }),
  )

async function readCollected(scope: Scope): Promise<Overview['collected']> {
  const isReadable = await withRecordType(scope, 'payments', async (type) => accessTo(scope, type, 'records:read').verdict !== 'none')
  if (!isReadable) return []
  const groups = await sumRecords(scope, 'payments', {
    seeing: ['amount', 'paid_at'],
    sums: ['amount'],
    by: [{ field: 'paid_at', span: 'month', timeZone: scope.workspace.timezone }],
  })
  return groups.flatMap(({ by: [month], sums }) =>
    typeof month !== 'string'
      ? []
      : (sums.amount ?? []).map(({ code, amount }) => ({ month, currency: code ?? '', amount: moneyText(amount, code ?? '') })),
  )
}

function shown({ currencies, debtors, oldest }: Receivables): Pick<Overview, 'receivables' | 'aging' | 'top_debtors' | 'oldest_overdue'> {
  const text = (amount: string, currency: string) => moneyText(amount, currency)
  return {
    receivables: currencies.map(({ currency, open, overdue, count }) => ({
      ...{ currency, open: text(open, currency), overdue: text(overdue, currency), count },
    })),
    aging: currencies.map(({ currency, current, d1_30, d31_60, d61_90, d90_plus }) => ({
      currency,
      current: text(current, currency),
      d1_30: text(d1_30, currency),
      d31_60: text(d31_60, currency),
      d61_90: text(d61_90, currency),
      d90_plus: text(d90_plus, currency),
    })),
    top_debtors: debtors.map(({ open, ...debtor }) => ({ ...debtor, open: text(open, debtor.currency) })),
    oldest_overdue: oldest.map(({ amount, ...invoice }) => ({ ...invoice, amount: text(amount, invoice.currency) })),
  }
}
