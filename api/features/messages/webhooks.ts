import { ids } from '#api/http/example-ids.ts'
import { readWholeFile } from '#api/http/request/upload.ts'
import { receive } from '#api/http/route.ts'
import { receiveDeliveryReport } from '#shared/features/messages/connections/delivery-reports.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Callback by which the provider of a connection reports bounces and complaints. */
export const callbacks = [
  receive({
    method: 'POST',
    path: '/webhooks/messages/:connectionId',
    summary: 'Report a bounce or a complaint',
    description:
      'For the provider of a connection: `{event: "bounce" | "complaint", message_id}` under `X-Kontor-Signature: t=<seconds>,v1=<hex HMAC-SHA256 of t.body>` with its webhook secret. Every correctly signed report of the last 5 minutes is answered with 200.',
    example: {
      params: { connectionId: ids.mailConnection },
      body: `{"event":"bounce","message_id":"${ids.message}"}`,
      answer: { received: true },
    },
    tag: 'Messages',
    app: null,
    permission: 'public',
    limit: null,
    upload: { maxBytes: 64 * 1024, contentTypes: 'any', form: false },
    status: 200,
    response: schema(t.Object({ received: t.Boolean() }, { title: 'CallbackReceived' })),
    fails: ['NOT_FOUND', 'VALIDATION_ERROR'],
    keep: readWholeFile,
    digestOf: null,
    handle: async ({ params, kept, header }, scope) => {
      await receiveDeliveryReport(scope, params.connectionId, kept, header('x-kontor-signature'))
      return { received: true }
    },
  }),
]
