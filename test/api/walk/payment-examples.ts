import type { Example, Examples } from '#test/api/walk/example.ts'

const payments = '/v1/orgs/:orgId/payments'
const connection = `${payments}/connections/:connectionId`
const link = `${payments}/links/:linkId`

const ofConnection = (body?: object): Example => ({
  needs: 'payments:manage',
  call: async ({ things }) => ({ params: { connectionId: await things.connection() }, ...(body ? { body } : {}) }),
})
const ofLink = (needs: Example['needs']): Example => ({ needs, call: async ({ things }) => ({ params: { linkId: await things.link() } }) })

/** Payments: connections, links, what is owed, and what ties out. All belong to the app of payments. */
export const paymentExamples: Examples = {
  [`GET ${payments}/connections`]: { needs: 'payments:read', call: () => ({}) },
  [`POST ${payments}/connections`]: {
    needs: 'payments:manage',
    call: () => ({ body: { provider: 'sandbox', name: 'New', mode: 'test', credentials: {} } }),
  },
  [`GET ${connection}`]: ofConnection(),
  [`PATCH ${connection}`]: ofConnection({ name: 'Changed' }),
  [`DELETE ${connection}`]: ofConnection(),
  [`POST ${connection}/test`]: ofConnection(),
  [`GET ${payments}/links`]: { needs: 'payments:read', badQuery: 'limit=0', call: () => ({}) },
  [`POST ${payments}/links`]: {
    needs: 'payments:collect',
    call: async ({ things }) => ({ body: { connection_id: await things.connection(), amount: '12.50' } }),
  },
  [`GET ${link}`]: ofLink('payments:read'),
  [`POST ${link}/cancel`]: ofLink('payments:collect'),
  [`POST ${link}/refresh`]: ofLink('payments:collect'),
  [`GET ${link}/timeline`]: ofLink('payments:read'),
  [`GET ${payments}/overview`]: { needs: 'payments:read', call: () => ({}) },
  [`GET ${payments}/reconcile`]: { needs: 'payments:read', badQuery: 'from=yesterday', call: () => ({}) },
  [`POST ${payments}/reconcile/repair`]: {
    needs: 'payments:manage',
    call: async ({ things }) => ({ body: { link_id: await things.link() } }),
  },
}
