import * as examples from '#api/features/payments/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import {
  changeConnection,
  createConnection,
  getConnection,
  listConnections,
  removeConnection,
} from '#shared/features/payments/connections/connections.ts'
import { requireConnection } from '#shared/features/payments/connections/open.ts'
import { connectionChange, connectionInput, connectionView } from '#shared/features/payments/connections/schemas.ts'
import { testPaymentConnectionJob } from '#shared/features/payments/jobs.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const connections = `${orgPath}/payments/connections` as const
const common = { tag: 'Payments', app: 'payments', limit: null } as const

/** Routes of payment connections (docs/contract/payments.md#connections). */
export const connectionRoutes = [
  answer({
    ...common,
    method: 'GET',
    path: connections,
    summary: 'List payment connections',
    description: 'Oldest first.',
    example: { answer: [examples.connection] },
    permission: 'payments:read',
    status: 200,
    response: schema(t.Array(connectionView.json)),
    handle: (_request, scope) => listConnections(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: connections,
    summary: 'Connect a payment provider',
    description: 'The credentials are kept encrypted and never returned. A sandbox has mode test.',
    example: { body: { provider: 'sandbox', name: 'Card payments', mode: 'test' }, answer: examples.connection },
    permission: 'payments:manage',
    body: connectionInput,
    status: 201,
    response: connectionView,
    handle: ({ body }, scope) => createConnection(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${connections}/:connectionId`,
    summary: 'Get a payment connection',
    description: 'Without its credentials.',
    example: { params: { connectionId: ids.paymentConnection }, answer: examples.connection },
    permission: 'payments:manage',
    status: 200,
    response: connectionView,
    handle: ({ params }, scope) => getConnection(scope, params.connectionId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: `${connections}/:connectionId`,
    summary: 'Change a payment connection',
    description:
      'A replaced credential is invalid at once, also for webhook signatures. Another mode or account removes the credentials that are not sent too.',
    example: { params: { connectionId: ids.paymentConnection }, body: { name: 'Card payments, test' }, answer: examples.renamedConnection },
    permission: 'payments:manage',
    body: connectionChange,
    stored: ({ params }, scope) => getConnection(scope, params.connectionId),
    status: 200,
    response: connectionView,
    handle: ({ params, body }, scope) => changeConnection(scope, params.connectionId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${connections}/:connectionId`,
    summary: 'Delete a payment connection',
    description: "Cancels the connection's open links at the provider. All of its links stay readable.",
    example: { params: { connectionId: ids.paymentConnection } },
    permission: 'payments:manage',
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeConnection(scope, params.connectionId),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${connections}/:connectionId/test`,
    summary: 'Test a payment connection',
    description:
      "Asks the provider whether it accepts the credentials and saves the result as the connection's status. " +
      'A refusal is a status, not an error.',
    example: { params: { connectionId: ids.paymentConnection }, answer: examples.checkedConnection },
    permission: 'payments:manage',
    job: testPaymentConnectionJob,
    makes: 'json',
    payload: async ({ params }, scope) => ({ connectionId: (await requireConnection(scope, params.connectionId)).id }),
  }),
]
