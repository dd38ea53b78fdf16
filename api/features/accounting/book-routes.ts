import * as examples from '#api/features/accounting/examples.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import { exportLedgerJob, sealBooksJob, verifyLedgerJob } from '#shared/features/accounting/jobs.ts'
import { exportQuery } from '#shared/features/accounting/reports/schemas.ts'
import { sealInput, sealList } from '#shared/features/accounting/seals/schemas.ts'
import { listSeals } from '#shared/features/accounting/seals/seals.ts'

const common = { tag: 'Accounting', app: 'accounting', limit: null } as const
const accounting = `${orgPath}/accounting` as const

/** Routes over the whole ledger: seals, verification, export. */
export const routes = [
  delegate({
    ...common,
    method: 'POST',
    path: `${accounting}/seals`,
    summary: 'Seal the recorded entries',
    description:
      'Computes a SHA-256 chained to the previous seal over every entry recorded before `until` and not yet sealed, in the order ' +
      'of recording. Keep the hash to prove later that no entry has changed.',
    example: { body: { until: '2026-11-21T10:30:00Z' }, answer: examples.seal },
    permission: 'accounting:post',
    body: sealInput,
    job: sealBooksJob,
    makes: 'json',
    status: 201,
    payload: ({ body: { until = null } }) => ({ until }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${accounting}/seals`,
    summary: 'List seals',
    description: 'In the order of the chain.',
    example: { answer: [examples.seal] },
    permission: 'accounting:read',
    status: 200,
    response: sealList,
    handle: (_request, scope) => listSeals(scope),
  }),
  delegate({
    ...common,
    method: 'GET',
    path: `${accounting}/verify`,
    summary: 'Check the books',
    description: 'Recomputes the chain of seals, the balance of every entry and the trial balances from the lines.',
    example: { answer: { ok: true, entries: 2, seals: 1, differences: [] } },
    permission: 'accounting:read',
    job: verifyLedgerJob,
    makes: 'json',
    payload: () => ({}),
  }),
  delegate({
    ...common,
    method: 'GET',
    path: `${accounting}/export`,
    summary: 'Export the books',
    description:
      'All entries in every currency, by date, for hledger or beancount, or as CSV with a row for each line. ' +
      'Accounts are named by kind and code.',
    example: { query: { format: 'hledger' }, file: examples.journal },
    permission: 'accounting:read',
    query: exportQuery,
    job: exportLedgerJob,
    makes: ['text/plain', 'text/csv'],
    payload: ({ query: { format, recorded_before = null } }) => ({ format, recordedBefore: recorded_before }),
  }),
]
