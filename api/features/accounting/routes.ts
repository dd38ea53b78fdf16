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
    permission: 'accounting:post',
    body: reversalInput,
    status: 201,
    response: entrySchema,
    handle: ({ params, body }, scope) => reverseEntry(scope, params.entryId, body),
  }),
]
