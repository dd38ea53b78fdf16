import { ids } from '#api/http/example-ids.ts'
import { dayIn, type WalkedRoutes } from '#test/api/walk/example.ts'
import { nextQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const accounting = '/v1/orgs/:orgId/accounting'
const entries = `${accounting}/entries`

const anEntry = async ({ things }: Place) => ({ [ids.entry]: await things.entry() })
const inDollars = () => ({ EUR: 'USD' })

/** The ledger and its reports. */
export const accountingExamples: WalkedRoutes = {
  [`POST ${entries}`]: {
    needs: 'accounting:post',
    things: async ({ things }) => ({ [ids.cash]: await things.account(), [ids.sales]: await things.account() }),
  },
  [`GET ${entries}`]: { needs: 'accounting:read', badQuery: 'limit=0' },
  [`GET ${entries}/:entryId`]: { needs: 'accounting:read', things: anEntry },
  [`POST ${entries}/:entryId/reverse`]: {
    needs: 'accounting:post',
    things: async (place) => ({ ...(await anEntry(place)), '2026-11-21': dayIn(0) }),
  },
  [`GET ${accounting}/trial-balance`]: { needs: 'accounting:read', badQuery: 'currency=none', things: inDollars },
  [`GET ${accounting}/ledger`]: {
    secondPage: async (place) => {
      const account = await place.things.account()
      for (const _ of [1, 2]) await place.things.entry(account)
      return { query: await nextQuery(place, '/accounting/ledger', { account }) }
    },
    needs: 'accounting:read',
    also: ['records:read'],
    badQuery: 'account=none',
    things: async ({ things }) => ({ [ids.cash]: await things.account() }),
  },
  [`GET ${accounting}/overview`]: {
    needs: 'accounting:read',
    badQuery: 'from=2026-02-30',
    things: async ({ things }) => ({ [ids.cash]: await things.account() }),
  },
  [`GET ${accounting}/reports/profit-loss`]: { needs: 'accounting:read', badQuery: 'to=yesterday' },
  [`GET ${accounting}/reports/balance-sheet`]: { needs: 'accounting:read', badQuery: 'recorded_before=2999-01-01' },
  [`POST ${accounting}/seals`]: {
    needs: 'accounting:post',
    things: () => ({ '2026-11-21T10:30:00Z': `${dayIn(0)}T00:00:00Z` }),
  },
  [`GET ${accounting}/seals`]: { needs: 'accounting:read' },
  [`GET ${accounting}/verify`]: { needs: 'accounting:read' },
  [`GET ${accounting}/export`]: {
    needs: 'accounting:read',
    badQuery: 'format=ledger',
    things: async ({ things }) => {
      await things.entry()
      return {}
    },
  },
}
