import { connectionRoutes } from '#api/features/payments/connection-routes.ts'
import * as examples from '#api/features/payments/examples.ts'
import { linkRoutes } from '#api/features/payments/link-routes.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { readPaymentsOverview } from '#shared/features/payments/overview/overview.ts'
import { paymentsOverview } from '#shared/features/payments/overview/schemas.ts'
import { reconcile } from '#shared/features/payments/reconciliation/reconcile.ts'
import { repairLink } from '#shared/features/payments/reconciliation/repair.ts'
import { reconcileQuery, reconciliation, repairInput, repairResult } from '#shared/features/payments/reconciliation/schemas.ts'

const common = { tag: 'Payments', app: 'payments', limit: null } as const

/** Routes of payments (docs/contract/payments.md#routes). */
export const routes = [
  ...connectionRoutes,
  ...linkRoutes,
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/payments/overview`,
    summary: 'Get receivables and collected payments',
    description:
      'Counts the invoices and payments that the caller may read. The open amount of an invoice is its total less its payments in the ' +
      'same currency. Days and months are in the time zone of the workspace.',
    example: { answer: examples.overview },
    permission: 'payments:read',
    status: 200,
    response: paymentsOverview,
    handle: (_request, scope) => readPaymentsOverview(scope),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/payments/reconcile`,
    summary: 'Compare links, payments and the ledger with the payments that providers reported',
    description: 'Compares the links created in the span. Calls no provider.',
    example: { query: { from: '2026-11-01', to: '2026-11-30' }, answer: { ok: true, checked: 9, breaks: [] } },
    permission: 'payments:read',
    query: reconcileQuery,
    status: 200,
    response: reconciliation,
    handle: ({ query }, scope) => reconcile(scope, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${orgPath}/payments/reconcile/repair`,
    summary: 'Create the missing payments record of a link',
    description: 'For a paid link without a payments record. `repaired` is 0 when nothing is missing.',
    example: { body: { link_id: ids.paymentLink }, answer: { repaired: 1 } },
    permission: 'payments:manage',
    body: repairInput,
    status: 200,
    response: repairResult,
    fails: ['NOT_FOUND'],
    handle: ({ body }, scope) => repairLink(scope, body.link_id),
  }),
]
