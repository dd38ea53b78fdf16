import { pageLimit } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const memo = t.String({ maxLength: 500 })
/** Schema of a decimal number as text. */
export const decimalSchema = (description: string) =>
  t.String({ description: `Decimal number, with at least the digits of its currency. ${description}` })

/** A posted entry (docs/contract/accounting.md#entries). */
export const entryShape = t.Object(
  {
    id: uuid,
    date: t.String({ format: 'date' }),
    memo: t.String(),
    source_type: t.String({ description: 'The kind of source, such as manual, invoice or payment.' }),
    source_id: nullable(t.String({ description: 'Id of the source.' })),
    total: decimalSchema('The sum of the debits, equal to the sum of the credits.'),
    currency: t.String({ description: 'ISO 4217 code.' }),
    created_at: instant,
    lines: t.Array(
      t.Object(
        {
          id: uuid,
          account_id: uuid,
          debit: decimalSchema('Zero on a credit line.'),
          credit: decimalSchema('Zero on a debit line.'),
          memo: t.String(),
        },
        { title: 'EntryLine' },
      ),
    ),
    reverses: t.Optional(t.String({ format: 'uuid', description: 'On a reversing entry, the id of the entry it reverses.' })),
    reversed_by: t.Optional(t.String({ format: 'uuid', description: 'On a reversed entry, the id of the reversing entry.' })),
  },
  { title: 'Entry' },
)
export const entrySchema = schema(entryShape)
export type Entry = TypeOf<typeof entrySchema>
export type EntryLine = Entry['lines'][number]

/** Hint for callers that send an account's code instead of its id. */
export const accountHint = 'the id of an accounts record, not its code; GET …/records/accounts lists both'

const side = (name: string, other: string) =>
  t.Optional(
    t.Unknown({
      description:
        'Decimal number as text or JSON number, up to 13 digits and 6 decimals, at most 9223372036854. ' +
        `On a line with a ${other}, omit the ${name} or send null, empty text or zero.`,
    }),
  )

/** Input of an entry. Other keys are ignored, so an entry that was read can be posted again. */
export const entryInput = schema(
  t.Object(
    {
      date: t.Optional(nullable(t.String({ description: 'YYYY-MM-DD; today in UTC by default.' }))),
      memo: t.Optional(nullable(memo)),
      source_type: t.Optional(nullable(t.String({ minLength: 1, maxLength: 60, description: 'manual by default.' }))),
      source_id: t.Optional(nullable(t.String({ maxLength: 200 }))),
      currency: t.Optional(nullable(t.String({ description: "ISO 4217 code; the workspace's default currency by default." }))),
      lines: t.Array(
        t.Object(
          {
            account_id: t.String({ format: 'uuid', description: 'Id of an accounts record.', 'x-hint': accountHint }),
            debit: side('debit', 'credit'),
            credit: side('credit', 'debit'),
            memo: t.Optional(nullable(memo)),
          },
          { title: 'EntryLineInput' },
        ),
        { minItems: 2, maxItems: 200, description: 'Total debits equal total credits, to the last digit.' },
      ),
    },
    { title: 'EntryInput' },
  ),
)
export type EntryInput = TypeOf<typeof entryInput>

/** Input of a reversal. */
export const reversalInput = schema(
  t.Object(
    {
      date: t.Optional(
        nullable(t.String({ description: "YYYY-MM-DD; the original's date by default. Required when that date is closed." })),
      ),
    },
    { title: 'ReversalInput' },
  ),
)
export type ReversalInput = TypeOf<typeof reversalInput>

/** Filters and page of a list of entries. */
export const entriesQuery = schema(
  t.Object({
    from: t.Optional(t.String({ description: 'The first date, YYYY-MM-DD.' })),
    to: t.Optional(t.String({ description: 'The last date, YYYY-MM-DD.' })),
    account: t.Optional(
      t.String({ format: 'uuid', description: 'Id of an account; lists entries with a line on it.', 'x-hint': accountHint }),
    ),
    status: t.Optional(
      t.Enum(['active', 'reversed', 'reversal'], { description: 'active: neither reversed nor a reversal. A reversal can be reversed.' }),
    ),
    currency: t.Optional(t.String({ description: 'ISO 4217 code; every currency by default.' })),
    limit: pageLimit(),
    offset: t.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
  }),
)
export type EntriesQuery = TypeOf<typeof entriesQuery>

/** A page of entries, newest first, and the total count. */
export const entriesPage = schema(t.Object({ entries: t.Array(entryShape), total: t.Integer({ minimum: 0 }) }, { title: 'EntriesPage' }))
export type EntriesPage = TypeOf<typeof entriesPage>
