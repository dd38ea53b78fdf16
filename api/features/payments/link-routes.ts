import * as examples from '#api/features/payments/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import { cancelLinkJob, createLinkJob, refreshLinkJob } from '#shared/features/payments/jobs.ts'
import { getLink, listLinks, readLink } from '#shared/features/payments/links/find.ts'
import { linkInput, linkQuery, linkView, readLinkInput, timeline } from '#shared/features/payments/links/schemas.ts'
import { readTimeline } from '#shared/features/payments/links/timeline.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const links = `${orgPath}/payments/links` as const
const common = { tag: 'Payments', app: 'payments', limit: null } as const

/** Routes of payment links (docs/contract/payments.md#links). */
export const linkRoutes = [
  answer({
    ...common,
    method: 'GET',
    path: links,
    summary: 'List payment links',
    description: 'Newest first.',
    example: { query: { limit: 20 }, answer: [examples.link] },
    permission: 'payments:read',
    query: linkQuery,
    status: 200,
    response: schema(t.Array(linkView.json)),
    handle: ({ query }, scope) => listLinks(scope, query),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: links,
    summary: 'Create a payment link',
    description:
      'With `invoice_id`, amount and currency default to those of the invoice. When the provider does not answer, repeat the request ' +
      'with the same Idempotency-Key: it finds the link that the provider may have created.',
    example: {
      body: {
        connection_id: ids.paymentConnection,
        amount: '128.50',
        currency: 'EUR',
        description: 'Order of Café Lindgren',
        customer_email: 'lena@cafe-lindgren.example',
      },
      answer: examples.link,
    },
    permission: 'payments:collect',
    body: linkInput,
    status: 201,
    job: createLinkJob,
    makes: 'json',
    payload: ({ body, idempotencyKey }, { principal }) => {
      const key = idempotencyKey()
      return { request: readLinkInput(body), deduplicationKey: key === undefined ? null : `request ${principal?.id} ${key}` }
    },
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${links}/:linkId`,
    summary: 'Get a payment link',
    description: 'As the provider last reported the link. The refresh route polls the provider.',
    example: { params: { linkId: ids.paymentLink }, answer: examples.link },
    permission: 'payments:read',
    status: 200,
    response: linkView,
    handle: ({ params }, scope) => readLink(scope, params.linkId),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${links}/:linkId/cancel`,
    summary: 'Cancel an unpaid payment link',
    description: 'Also ends the pay pages that payers have open. Cancelling a cancelled link changes nothing.',
    example: { params: { linkId: ids.paymentLink }, answer: examples.cancelledLink },
    permission: 'payments:collect',
    job: cancelLinkJob,
    makes: 'json',
    payload: async ({ params }, scope) => ({ linkId: (await getLink(scope, params.linkId)).id }),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${links}/:linkId/refresh`,
    summary: 'Poll the provider for the state of a payment link',
    description: 'Finds payments that no webhook reported; safe to repeat.',
    example: { params: { linkId: ids.paymentLink }, answer: examples.link },
    permission: 'payments:collect',
    job: refreshLinkJob,
    makes: 'json',
    payload: async ({ params }, scope) => ({ linkId: (await getLink(scope, params.linkId)).id }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${links}/:linkId/timeline`,
    summary: 'List the timeline of a payment link',
    description: 'Oldest first: each change or report, its source and its result.',
    example: { params: { linkId: ids.paymentLink }, answer: [examples.timelineEntry] },
    permission: 'payments:read',
    status: 200,
    response: timeline,
    handle: ({ params }, scope) => readTimeline(scope, params.linkId),
  }),
]
