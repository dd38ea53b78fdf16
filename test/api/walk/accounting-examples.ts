import type { Examples } from '#test/api/walk/example.ts'
import { nextQuery } from '#test/api/walk/second-page.ts'

const accounting = '/v1/orgs/:orgId/accounting'
const entries = `${accounting}/entries`

/** The ledger and its reports. */
export const accountingExamples: Examples = {
  [`POST ${entries}`]: {
    needs: 'accounting:post',
    call: async ({ things }) => ({
      body: {
        memo: 'New',
        lines: [
          { account_id: await things.account(), debit: '12.50' },
          { account_id: await things.account(), credit: 12.5 },
        ],
      },
    }),
  },
  [`GET ${entries}`]: { needs: 'accounting:read', badQuery: 'limit=0', call: () => ({}) },
  [`GET ${entries}/:entryId`]: { needs: 'accounting:read', call: async ({ things }) => ({ params: { entryId: await things.entry() } }) },
  [`POST ${entries}/:entryId/reverse`]: {
    needs: 'accounting:post',
    call: async ({ things }) => ({ params: { entryId: await things.entry() }, body: {} }),
  },
  [`GET ${accounting}/trial-balance`]: { needs: 'accounting:read', badQuery: 'currency=none', call: () => ({}) },
  [`GET ${accounting}/ledger`]: {
    secondPage: async (place) => {
      const account = await place.things.account()
      for (const _ of [1, 2]) await place.things.entry(account)
      return { query: await nextQuery(place, '/accounting/ledger', { account }) }
    },
    needs: 'accounting:read',
    also: ['records:read'],
    badQuery: 'account=none',
    call: async ({ things }) => ({ query: { account: await things.account() } }),
  },
  [`GET ${accounting}/overview`]: { needs: 'accounting:read', badQuery: 'from=2026-02-30', call: () => ({}) },
  [`GET ${accounting}/reports/profit-loss`]: { needs: 'accounting:read', badQuery: 'to=yesterday', call: () => ({}) },
  [`GET ${accounting}/reports/balance-sheet`]: { needs: 'accounting:read', badQuery: 'recorded_before=2999-01-01', call: () => ({}) },
  [`POST ${accounting}/seals`]: { needs: 'accounting:post', call: () => ({ body: {} }) },
  [`GET ${accounting}/seals`]: { needs: 'accounting:read', call: () => ({}) },
  [`GET ${accounting}/verify`]: { needs: 'accounting:read', call: () => ({}) },
  [`GET ${accounting}/export`]: {
    needs: 'accounting:read',
    badQuery: 'format=ledger',
    call: async ({ things }) => {
      await things.entry()
      return { query: { format: 'hledger' } }
    },
  },
}
