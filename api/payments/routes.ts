import { answer, org } from '#api/http/route.ts'
import { connectionRoutes } from '#api/payments/connection-routes.ts'
import { linkRoutes } from '#api/payments/link-routes.ts'
import { readOverview } from '#shared/payments/overview.ts'
import { overview } from '#shared/payments/overview-shape.ts'
import { reconcile } from '#shared/payments/reconcile.ts'
import { reconcileQuery, reconciliation, repaired, repairInput } from '#shared/payments/reconcile-shape.ts'
import { repairLink } from '#shared/payments/repair.ts'

const common = { tag: 'Payments', app: 'payments', limit: null } as const

/** Payments of a workspace (document 2 and decisions, Payments). */
export const routes = [
  ...connectionRoutes,
  ...linkRoutes,
  answer({
    ...common,
    method: 'GET',
    path: `${org}/payments/overview`,
    summary: 'What is owed and what came in',
    description:
      'Of the invoices and payments that the caller may read. What is open of an invoice is its total less the payments on it in the same ' +
      'currency; days and months go by the time zone of the workspace.',
    permission: 'payments:read',
    status: 200,
    response: overview,
    handle: (_request, scope) => readOverview(scope),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${org}/payments/reconcile`,
    summary: 'Compare links, payments and the ledger with what providers have told',
    description: 'Of the links that were made in the span. It asks no provider.',
    permission: 'payments:read',
    query: reconcileQuery,
    status: 200,
    response: reconciliation,
    handle: ({ query }, scope) => reconcile(scope, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${org}/payments/reconcile/repair`,
    summary: 'Make the missing payments record of a link',
    description: 'For a link that is paid and has none; `repaired` is 0 where nothing is missing.',
    permission: 'payments:manage',
    body: repairInput,
    status: 200,
    response: repaired,
    fails: ['NOT_FOUND'],
    handle: ({ body }, scope) => repairLink(scope, body.link_id),
  }),
]
