import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Kinds of inconsistencies between provider, link, payments record and ledger. */
const breakKinds = ['paid_without_record', 'record_without_money', 'amount_differs', 'two_payments_one_link', 'paid_after_end'] as const

/** The span of creation days of the links to compare. */
export const reconcileQuery = schema(
  t.Object({
    from: t.Optional(t.String({ format: 'date', description: 'Links created on this day or later, in the time zone of the workspace.' })),
    to: t.Optional(t.String({ format: 'date', description: 'Links created on this day or earlier.' })),
  }),
)
export type ReconcileQuery = TypeOf<typeof reconcileQuery>

const id = nullable(uuid)

/** Result of a reconciliation (docs/contract/payments.md#reconciliation). */
export const reconciliation = schema(
  t.Object(
    {
      ok: t.Boolean({ description: 'Whether no inconsistency was found.' }),
      checked: t.Integer({ description: 'Number of links compared.' }),
      breaks: t.Array(
        t.Object({
          kind: t.Enum([...breakKinds]),
          link_id: id,
          payment_record_id: nullable(
            t.String({ format: 'uuid', description: 'Null where there is none, or the caller may not read it.' }),
          ),
          entry_id: nullable(t.String({ format: 'uuid', description: 'Null where there is none, or the caller may not read the ledger.' })),
          detail: t.String(),
        }),
        { description: 'In the order of their links.' },
      ),
    },
    { title: 'PaymentReconciliation' },
  ),
)
export type Reconciliation = TypeOf<typeof reconciliation>
export type Break = Reconciliation['breaks'][number]

/** Input and result of a repair. */
export const repairInput = schema(
  t.Object({ link_id: t.String({ description: 'The link whose payments record is missing.' }) }, { title: 'PaymentRepairInput' }),
)
export const repairResult = schema(
  t.Object({ repaired: t.Integer({ description: 'Number of payments records created.' }) }, { title: 'PaymentRepair' }),
)
