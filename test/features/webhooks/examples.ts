import { ids } from '#api/http/example-ids.ts'
import type { Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage, linkedQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const webhooks = '/v1/orgs/:orgId/webhooks'
const one = `${webhooks}/:webhookId`

const aWebhook = async ({ things }: Place) => ({ [ids.webhook]: await things.webhook() })
const ofWebhook: Walked = { needs: 'webhooks:manage', things: aWebhook }

/** Webhooks and their deliveries. */
export const webhookExamples: WalkedRoutes = {
  [`GET ${webhooks}`]: { needs: 'webhooks:manage', secondPage: linkedPage('/webhooks', (things) => things.webhook()) },
  [`POST ${webhooks}`]: { needs: 'webhooks:manage', also: ['records:read'] },
  [`GET ${one}`]: ofWebhook,
  [`PATCH ${one}`]: ofWebhook,
  [`DELETE ${one}`]: ofWebhook,
  [`POST ${one}/rotate`]: ofWebhook,
  [`GET ${one}/deliveries`]: {
    ...ofWebhook,
    badQuery: 'status=lost',
    secondPage: async (place) => {
      const id = await place.things.webhook()
      for (const _ of [1, 2]) await place.things.delivery(id)
      return { params: { webhookId: id }, query: await linkedQuery(place, `/webhooks/${id}/deliveries`) }
    },
  },
  [`POST ${one}/deliveries/:deliveryId/resend`]: {
    ...ofWebhook,
    things: async (place) => {
      const made = await aWebhook(place)
      return { ...made, [ids.webhookDelivery]: await place.things.delivery(made[ids.webhook] ?? '') }
    },
  },
  [`POST ${one}/recover`]: ofWebhook,
  [`POST ${one}/test`]: ofWebhook,
}
