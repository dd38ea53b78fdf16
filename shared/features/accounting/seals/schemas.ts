import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** A seal over entries (docs/contract/accounting.md#seals). */
const sealShape = t.Object(
  {
    id: uuid,
    until: t.String({
      format: 'date-time',
      description: 'Exclusive. The seal covers every entry recorded before it that no earlier seal covers.',
    }),
    entries: t.Integer({ minimum: 0, description: 'Number of entries covered.' }),
    hash: t.String({ description: 'SHA-256 over the previous hash and the covered entries, in hexadecimal.' }),
    previous: nullable(t.String({ description: 'Hash of the previous seal; null for the first.' })),
    created_at: instant,
  },
  { title: 'Seal' },
)
export const sealSchema = schema(sealShape)
export const sealList = schema(t.Array(sealShape))
export type Seal = TypeOf<typeof sealSchema>

/** Input of a seal. */
export const sealInput = schema(
  t.Object(
    { until: t.Optional(nullable(t.String({ description: 'An instant in the past (RFC 3339); now by default.' }))) },
    { title: 'SealInput' },
  ),
)

/** Result of verifying the ledger. */
export const ledgerVerification = schema(
  t.Object(
    {
      ok: t.Boolean({ description: 'Whether no difference was found.' }),
      entries: t.Integer({ minimum: 0, description: 'Number of entries checked.' }),
      seals: t.Integer({ minimum: 0, description: 'Number of seals checked.' }),
      differences: t.Array(
        t.Object({
          kind: t.Enum(['seal', 'entry', 'balance']),
          id: t.String({ description: 'Id of the seal, entry or account.' }),
          detail: t.String(),
        }),
        { description: 'At most 1,000.' },
      ),
    },
    { title: 'LedgerVerification' },
  ),
)
export type LedgerVerification = TypeOf<typeof ledgerVerification>
export type LedgerDifference = LedgerVerification['differences'][number]
