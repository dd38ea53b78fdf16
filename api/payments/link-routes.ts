import { answer, delegate, org } from '#api/http/route.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { cancelLink, createLink, refreshLink } from '#shared/payments/jobs.ts'
import { linkInput, linkView, readLinkInput } from '#shared/payments/link.ts'
import { getLink, linkQuery, listLinks, readLink } from '#shared/payments/links.ts'
import { readTimeline, timeline } from '#shared/payments/timeline.ts'

const links = `${org}/payments/links` as const
const common = { tag: 'Payments', app: 'payments', limit: null } as const

/** Payment links (document 2, Payments). */
export const linkRoutes = [
  answer({
    ...common,
    method: 'GET',
    path: links,
    summary: 'List payment links',
    description: 'Newest first.',
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
      'With `invoice_id` the amount and currency are those of the invoice unless they are sent. When the provider does not answer, the same ' +
      'request with the same Idempotency-Key finds the link that it may have made.',
    permission: 'payments:collect',
    body: linkInput,
    status: 201,
    job: createLink,
    makes: 'json',
    payload: ({ body, header }, { principal }) => ({
      request: readLinkInput(body),
      naturalKey: header('idempotency-key') === '' ? null : `request ${principal?.id} ${header('idempotency-key')}`,
    }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${links}/:linkId`,
    summary: 'Get a payment link',
    description: 'As it was last heard of from its provider; refresh asks again.',
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
    description: 'Also ends the pages that payers have open. A link that is cancelled already stays so.',
    permission: 'payments:collect',
    job: cancelLink,
    makes: 'json',
    payload: async ({ params }, scope) => ({ linkId: (await getLink(scope, params.linkId)).id }),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${links}/:linkId/refresh`,
    summary: 'Ask the provider what has become of a payment link',
    description: 'Finds payments of which no webhook has told; safe to repeat.',
    permission: 'payments:collect',
    job: refreshLink,
    makes: 'json',
    payload: async ({ params }, scope) => ({ linkId: (await getLink(scope, params.linkId)).id }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${links}/:linkId/timeline`,
    summary: 'List what happened to a payment link',
    description: 'Oldest first: what was learned, from where, and what became of it.',
    permission: 'payments:read',
    status: 200,
    response: timeline,
    handle: ({ params }, scope) => readTimeline(scope, params.linkId),
  }),
]
