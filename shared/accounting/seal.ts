import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'

/** A seal over entries (decisions, Accounting). */
export const sealShape = t.Object(
  {
    id: t.String({ format: 'uuid' }),
    until: t.String({ format: 'date-time', description: 'Exclusive: it covers every entry recorded before, and not yet sealed then.' }),
    entries: t.Integer({ minimum: 0, description: 'How many it covers.' }),
    hash: t.String({ description: 'SHA-256 over the hash before it and its entries, in hexadecimal.' }),
    previous: nullable(t.String({ description: 'The hash of the seal before; null for the first.' })),
    created_at: t.String({ format: 'date-time' }),
  },
  { title: 'Seal' },
)
export const sealSchema = schema(sealShape)
export const sealList = schema(t.Array(sealShape))
export type Seal = TypeOf<typeof sealSchema>

/** What makes a seal. */
export const sealInput = schema(
  t.Object(
    { until: t.Optional(nullable(t.String({ description: 'An instant that is not ahead (RFC 3339); now by default.' }))) },
    { title: 'SealInput' },
  ),
)

/** What a check of the books found. */
export const verification = schema(
  t.Object(
    {
      ok: t.Boolean({ description: 'Whether nothing differs.' }),
      entries: t.Integer({ minimum: 0, description: 'Entries that were looked at.' }),
      seals: t.Integer({ minimum: 0, description: 'Seals that were looked at.' }),
      differences: t.Array(
        t.Object({
          kind: t.Enum(['seal', 'entry', 'balance']),
          id: t.String({ description: 'Of the seal, the entry or the account.' }),
          detail: t.String(),
        }),
        { description: 'At most 1,000.' },
      ),
    },
    { title: 'LedgerVerification' },
  ),
)
export type Verification = TypeOf<typeof verification>
export type Difference = Verification['differences'][number]
