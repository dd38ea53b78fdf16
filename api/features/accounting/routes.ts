import * as examples from '#api/features/accounting/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { getEntry, listEntries } from '#shared/features/accounting/entries/find.ts'
import { postEntry } from '#shared/features/accounting/entries/post.ts'
import { reverseEntry } from '#shared/features/accounting/entries/reverse.ts'
import { entriesPage, entriesQuery, entryInput, entrySchema, reversalInput } from '#shared/features/accounting/entries/schemas.ts'

const common = { tag: 'Accounting', app: 'accounting', limit: null } as const
const entries = `${orgPath}/accounting/entries` as const
const entry = `${entries}/:entryId` as const

/** Entries of the ledger: posted, listed, reversed, never changed. */
export const routes = [
  answer({
    ...common,
    method: 'POST',
    path: entries,
    summary: 'Post an entry',
    description:
      'Total debits equal total credits to the last digit. A posted entry is never changed or deleted: reverse it and post another. ' +
      'The date must be after the day through which the books are closed.',
    example: {
      body: {
        date: '2026-11-21',
        memo: 'Order of Café Lindgren',
        lines: [
          { account_id: ids.cash, debit: '128.50' },
          { account_id: ids.sales, credit: '128.50' },
        ],
      },
      answer: examples.sale,
    },
    permission: 'accounting:post',
    body: entryInput,
    status: 201,
    response: entrySchema,
    handle: ({ body }, scope) => postEntry(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: entries,
    summary: 'List entries',
    description: 'Last posted first.',
    example: { query: { from: '2026-11-01', to: '2026-11-30', limit: 20 }, answer: { entries: [examples.sale], total: 1 } },
    permission: 'accounting:read',
    query: entriesQuery,
    status: 200,
    response: entriesPage,
    handle: ({ query }, scope) => listEntries(scope, query),
  }),
  answer({
    ...common,
    method: 'GET',
    path: entry,
    summary: 'Get an entry',
    description: 'With its lines. Posted entries never change; a reversal is a separate entry.',
    example: { params: { entryId: ids.entry }, answer: examples.sale },
    permission: 'accounting:read',
    status: 200,
    response: entrySchema,
    handle: ({ params }, scope) => getEntry(scope, params.entryId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${entry}/reverse`,
    summary: 'Reverse an entry',
    description:
      "Posts an entry with debits and credits swapped, on the original's date unless `date` is sent. An entry can be reversed once.",
    example: { params: { entryId: ids.entry }, body: { date: '2026-11-21' }, answer: examples.reversal },
    permission: 'accounting:post',
    body: reversalInput,
    status: 201,
    response: entrySchema,
    handle: ({ params, body }, scope) => reverseEntry(scope, params.entryId, body),
  }),
]
