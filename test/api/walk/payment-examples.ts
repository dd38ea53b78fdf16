import { ids } from '#api/http/example-ids.ts'
import { signedHeaders } from '#shared/features/payments/providers/sandbox.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { credentialsOf } from '#test/features/payments/place.ts'
import type { Place } from '#test/support/things.ts'

const payments = '/v1/orgs/:orgId/payments'
const connection = `${payments}/connections/:connectionId`
const link = `${payments}/links/:linkId`

const aConnection = async ({ things }: Place) => ({ [ids.paymentConnection]: await things.connection() })
const aLink = async ({ things }: Place) => ({ [ids.paymentLink]: await things.link() })
const ofConnection: Walked = { needs: 'payments:manage', things: aConnection }
const ofLink = (needs: Walked['needs']): Walked => ({ needs, things: aLink })

/** A link with the token of the form on its pay page. */
const payable = async (place: Place) => {
  const { world, org } = place
  const made = await aLink(place)
  const page = await world.visitor.get(`/pay/${org.id}/${made[ids.paymentLink]}`)
  return { ...made, 'example-form-token': /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '' }
}

/** The call as an event that the sandbox sends to the webhook of a connection. */
const signed = async (call: Call, { world, org }: Place): Promise<Call> => {
  const body = String(call.body)
  const { id } = JSON.parse(body) as { id: string }
  const credentials = await credentialsOf(world, org.id, call.params?.connectionId ?? '')
  return { ...call, headers: signedHeaders(credentials, id, body, new Date()) }
}

/** Payments: connections, links, receivables and reconciliation. All belong to the payments app. */
export const paymentExamples: WalkedRoutes = {
  [`GET ${payments}/connections`]: { needs: 'payments:read' },
  [`POST ${payments}/connections`]: { needs: 'payments:manage' },
  [`GET ${connection}`]: ofConnection,
  [`PATCH ${connection}`]: ofConnection,
  [`DELETE ${connection}`]: ofConnection,
  [`POST ${connection}/test`]: ofConnection,
  [`GET ${payments}/links`]: {
    needs: 'payments:read',
    badQuery: 'limit=0',
    secondPage: async ({ things }) => {
      await things.link()
      return { query: { cursor: await things.link() } }
    },
  },
  [`POST ${payments}/links`]: {
    needs: 'payments:collect',
    things: async (place) => ({ ...(await aConnection(place)), EUR: 'USD' }),
  },
  [`GET ${link}`]: ofLink('payments:read'),
  [`POST ${link}/cancel`]: ofLink('payments:collect'),
  [`POST ${link}/refresh`]: ofLink('payments:collect'),
  [`GET ${link}/timeline`]: ofLink('payments:read'),
  [`GET ${payments}/overview`]: { needs: 'payments:read' },
  [`GET ${payments}/reconcile`]: { needs: 'payments:read', badQuery: 'from=yesterday' },
  [`POST ${payments}/reconcile/repair`]: ofLink('payments:manage'),
  'POST /webhooks/payments/:connectionId': { needs: 'public', things: aConnection, change: signed },
  'GET /pay/:orgId/:linkId': { needs: 'public', things: aLink },
  'POST /pay/:orgId/:linkId': { needs: 'public', things: payable },
}
