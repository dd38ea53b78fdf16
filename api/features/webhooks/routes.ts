import * as examples from '#api/features/webhooks/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, orgPath } from '#api/http/route.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import { listDeliveries, recover, resend, sendTest } from '#shared/features/webhooks/deliveries/deliveries.ts'
import {
  deliveryList,
  deliveryQuery,
  deliveryView,
  recovery,
  recoveryInput,
  webhookChange,
  webhookInput,
  webhookView,
  webhookWithSecret,
} from '#shared/features/webhooks/schemas.ts'
import { changeWebhook, createWebhook, getWebhook, listWebhooks, removeWebhook, rotateSecret } from '#shared/features/webhooks/webhooks.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Webhooks', app: null, limit: null, permission: 'webhooks:manage' } as const
const webhooks = `${orgPath}/webhooks` as const
const one = `${webhooks}/:webhookId` as const
const params = { webhookId: ids.webhook }

/** The routes of webhooks; `families` are the types of events of all features. */
export const createRoutes = (families: readonly EventFamily[]) => [
  answer({
    ...common,
    method: 'GET',
    path: webhooks,
    summary: 'List webhooks',
    description: 'Oldest first, without their secrets.',
    example: { query: { limit: 20 }, answer: [examples.webhook] },
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(webhookView.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listWebhooks(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: webhooks,
    summary: 'Create a webhook',
    description:
      'It sends what happens from now on, as far as its service account or else the caller may read it. Its secret is in this answer alone.',
    example: { body: examples.input, answer: examples.withSecret },
    body: webhookInput,
    status: 201,
    response: webhookWithSecret,
    handle: ({ body }, scope) => createWebhook(scope, families, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a webhook',
    description: 'With its status and the time of the next try, without its secret.',
    example: { params, answer: examples.webhook },
    status: 200,
    response: webhookView,
    handle: ({ params }, scope) => getWebhook(scope, params.webhookId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: one,
    summary: 'Change a webhook',
    description:
      'What is left out stays. Who changes the address, types, record type, filter or account becomes the maker. What is numbered while a webhook is off is not sent.',
    example: {
      params,
      body: { enabled: false },
      answer: { ...examples.webhook, enabled: false, status: 'disabled' },
    },
    body: webhookChange,
    stored: ({ params }, scope) => getWebhook(scope, params.webhookId),
    status: 200,
    response: webhookView,
    handle: ({ params, body }, scope) => changeWebhook(scope, families, params.webhookId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a webhook',
    description: 'Its deliveries go with it.',
    example: { params },
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeWebhook(scope, params.webhookId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/rotate`,
    summary: 'Give a webhook another secret',
    description: 'The new secret is in this answer alone. For 24 hours the one before it signs too.',
    example: { params, answer: examples.withSecret },
    status: 200,
    response: webhookWithSecret,
    handle: ({ params }, scope) => rotateSecret(scope, params.webhookId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/deliveries`,
    summary: 'List the deliveries of a webhook',
    description: 'Those of the last 30 days, newest first.',
    example: { params, query: { status: 'delivered', limit: 20 }, answer: [examples.delivery] },
    query: deliveryQuery,
    status: 200,
    linked: true,
    response: deliveryList,
    handle: async (request, scope) => withNextLink(request, scope, await listDeliveries(scope, request.params.webhookId, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/deliveries/:deliveryId/resend`,
    summary: 'Send a delivery again',
    description: 'The event must still be kept.',
    example: { params: { ...params, deliveryId: ids.webhookDelivery }, answer: examples.begun },
    status: 202,
    response: deliveryView,
    handle: ({ params }, scope) => resend(scope, params.webhookId, params.deliveryId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/recover`,
    summary: 'Send failed deliveries again',
    description: 'All failed deliveries of events above a number, which must be within what is kept.',
    example: { params, body: { since_seq: 0 }, answer: { count: 0 } },
    body: recoveryInput,
    status: 202,
    response: recovery,
    handle: ({ params, body }, scope) => recover(scope, params.webhookId, body.since_seq),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/test`,
    summary: 'Send an example',
    description: 'An example of the first type of the webhook. It is in no list of events.',
    example: { params, answer: examples.test },
    status: 202,
    response: deliveryView,
    handle: ({ params }, scope) => sendTest(scope, families, params.webhookId),
  }),
]
