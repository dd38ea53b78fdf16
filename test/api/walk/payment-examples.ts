import { signedHeaders } from '#shared/features/payments/providers/sandbox.ts'
import { type Call, type Example, type Examples, form } from '#test/api/walk/example.ts'
import { credentialsOf } from '#test/features/payments/place.ts'
import type { Place } from '#test/support/things.ts'

const payments = '/v1/orgs/:orgId/payments'
const connection = `${payments}/connections/:connectionId`
const link = `${payments}/links/:linkId`

const ofConnection = (body?: object): Example => ({
  needs: 'payments:manage',
  call: async ({ things }) => ({ params: { connectionId: await things.connection() }, ...(body ? { body } : {}) }),
})
const ofLink = (needs: Example['needs']): Example => ({ needs, call: async ({ things }) => ({ params: { linkId: await things.link() } }) })

/** The form that the pay page of a link sends. */
const pay = async ({ things, world, org }: Place): Promise<Call> => {
  const linkId = await things.link()
  const page = await world.visitor.get(`/pay/${org.id}/${linkId}`)
  const formToken = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  return { params: { linkId }, ...form({ form_token: formToken, action: 'pay', name: 'Pia', email: '' }) }
}

/** An event that the sandbox sends to the webhook of a connection. */
const deliver = async ({ things, world, org }: Place): Promise<Call> => {
  const connectionId = await things.connection()
  const body = JSON.stringify({ id: 'evt_1', type: 'payment.paid' })
  const headers = signedHeaders(await credentialsOf(world, org.id, connectionId), 'evt_1', body, new Date())
  return { params: { connectionId }, body, type: 'application/json', headers }
}

/** Payments: connections, links, receivables and reconciliation. All belong to the payments app. */
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
  [`GET ${payments}/links`]: {
    needs: 'payments:read',
    badQuery: 'limit=0',
    secondPage: async ({ things }) => {
      await things.link()
      return { query: { cursor: await things.link() } }
    },
    call: () => ({}),
  },
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
  'POST /webhooks/payments/:connectionId': { needs: 'public', call: deliver },
  'GET /pay/:orgId/:linkId': { needs: 'public', call: async ({ things }) => ({ params: { linkId: await things.link() } }) },
  'POST /pay/:orgId/:linkId': { needs: 'public', call: pay },
}
