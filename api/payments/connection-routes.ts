import { answer, delegate, org } from '#api/http/route.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { requireConnection } from '#shared/payments/account.ts'
import { connectionChange, connectionInput, connectionView } from '#shared/payments/connection.ts'
import { changeConnection, createConnection, getConnection, listConnections, removeConnection } from '#shared/payments/connections.ts'
import { testPaymentConnection } from '#shared/payments/jobs.ts'

const connections = `${org}/payments/connections` as const
const common = { tag: 'Payments', app: 'payments', limit: null } as const

/** Accounts at payment providers (decisions, Payments). */
export const connectionRoutes = [
  answer({
    ...common,
    method: 'GET',
    path: connections,
    summary: 'List payment connections',
    description: 'In the order of their creation.',
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
    description: 'The credentials are kept encrypted and never answered. A sandbox has mode test.',
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
    description: 'A credential that is replaced is refused from then on, also where it signs a webhook.',
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
    description: 'Its open links are cancelled at the provider; all its links stay readable.',
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
      'Asks the provider whether it takes the credentials. What it says is the status of the connection, and no failure of the call.',
    permission: 'payments:manage',
    job: testPaymentConnection,
    makes: 'json',
    payload: async ({ params }, scope) => ({ connectionId: (await requireConnection(scope, params.connectionId)).id }),
  }),
]
