import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const money = t.String({ description: 'Decimal text.' })
const currency = t.String({ description: 'ISO 4217.' })

/** Receivables and collected payments (docs/contract/payments.md#overview). */
export const paymentsOverview = schema(
  t.Object(
    {
      receivables: t.Array(
        t.Object({ currency, open: money, overdue: money, count: t.Integer({ description: 'Number of invoices with an open amount.' }) }),
      ),
      aging: t.Array(t.Object({ currency, current: money, d1_30: money, d31_60: money, d61_90: money, d90_plus: money }), {
        description: 'Open amounts by days overdue. An invoice without a due date is current.',
      }),
      top_debtors: t.Array(t.Object({ name: t.String(), email: t.String(), currency, open: money }), {
        description: 'The ten debtors with the largest open amounts.',
      }),
      oldest_overdue: t.Array(
        t.Object({
          invoice_id: uuid,
          number: t.String(),
          customer_name: t.String(),
          due_date: nullable(t.String({ format: 'date' })),
          amount: money,
          currency,
        }),
        { description: 'The ten open invoices with the earliest due dates; `amount` is the open amount.' },
      ),
      collected: t.Array(
        t.Object({ month: t.String({ description: 'YYYY-MM, in the time zone of the workspace.' }), currency, amount: money }),
        {
          description: 'Sums of payments by the month of their `paid_at`.',
        },
      ),
      links: t.Object({ created: t.Integer(), paid: t.Integer(), cancelled: t.Integer(), expired: t.Integer() }),
    },
    { title: 'PaymentsOverview' },
  ),
)
export type PaymentsOverview = TypeOf<typeof paymentsOverview>
