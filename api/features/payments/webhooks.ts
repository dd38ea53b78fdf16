import { countDelivery } from '#api/features/payments/metrics.ts'
import { ids } from '#api/http/example-ids.ts'
import { readWholeFile } from '#api/http/request/upload.ts'
import { receive } from '#api/http/route.ts'
import { maxDeliveryBytes, receiveDelivery } from '#shared/features/payments/events/events.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const receipt = schema(t.Object({ received: t.Boolean() }, { title: 'PaymentEventTaken' }))

/**
 * The webhook of payment providers; it also works while the workspace is suspended or its payments app is off
 * (docs/contract/payments.md#suspension-and-apps).
 */
export const webhookRoutes = [
  receive({
    method: 'POST',
    path: '/webhooks/payments/:connectionId',
    summary: "Receive a payment provider's webhook",
    description:
      'The signature is checked on the raw bytes: Stripe-Signature, X-Razorpay-Signature, or Webhook-Signature of the sandbox. An event ' +
      'is applied once; an event that matches no link is accepted too.',
    example: {
      params: { connectionId: ids.paymentConnection },
      body: '{"id":"evt_1042","type":"payment.paid"}',
      answer: { received: true },
    },
    tag: 'Payments',
    app: null,
    permission: 'public',
    limit: null,
    origins: 'any',
    fails: ['NOT_FOUND'],
    upload: { maxBytes: maxDeliveryBytes, contentTypes: 'any', form: false },
    keep: readWholeFile,
    digestOf: null,
    status: 200,
    response: receipt,
    handle: async ({ params, kept, header }, scope) => {
      await countDelivery(receiveDelivery(scope, params.connectionId, { bytes: kept, header }))
      return { received: true }
    },
  }),
]
