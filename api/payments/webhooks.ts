import { receive } from '#api/http/route.ts'
import { wholeFile } from '#api/http/upload.ts'
import { countDelivery } from '#api/payments/metrics.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { maxDeliveryBytes, receiveDelivery } from '#shared/payments/events.ts'

const taken = schema(t.Object({ received: t.Boolean() }, { title: 'PaymentEventTaken' }))

/** Where providers tell of payments: also while the workspace is suspended or has its app off (decisions, In the background). */
export const webhookRoutes = [
  receive({
    method: 'POST',
    path: '/webhooks/payments/:connectionId',
    summary: 'Take what a payment provider tells',
    description:
      'The signature is checked on the bytes as they came: Stripe-Signature, X-Razorpay-Signature, or Webhook-Signature of the sandbox. An ' +
      'event is acted on once; one that means nothing here is taken all the same.',
    tag: 'Payments',
    app: null,
    permission: 'public',
    limit: null,
    origins: 'any',
    fails: ['NOT_FOUND'],
    upload: { maxBytes: maxDeliveryBytes, contentTypes: 'any', form: false },
    keep: wholeFile,
    digestOf: null,
    status: 200,
    response: taken,
    handle: async ({ params, kept, header }, scope) => {
      await countDelivery(receiveDelivery(scope, params.connectionId, { bytes: kept, header }))
      return { received: true }
    },
  }),
]
