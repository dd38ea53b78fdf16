import * as examples from '#api/features/messages/examples.ts'
import { routes as messages } from '#api/features/messages/message-routes.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import {
  changeConnection,
  connectionAtCreation,
  createConnection,
  getConnection,
  listConnections,
  removeConnection,
  requireConnection,
} from '#shared/features/messages/connections/connections.ts'
import { connectionChange, connectionInput, connectionView, newConnectionView } from '#shared/features/messages/connections/schemas.ts'
import { testMessageConnectionJob } from '#shared/features/messages/jobs.ts'
import { templateChange, templateInput, templateSummary, templateView } from '#shared/features/messages/templates/schemas.ts'
import {
  changeTemplate,
  createTemplate,
  getTemplate,
  listTemplates,
  removeTemplate,
} from '#shared/features/messages/templates/templates.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Messages', app: null, limit: null, permission: 'messages:manage' } as const
const connections = `${orgPath}/messages/connections` as const
const connection = `${connections}/:connectionId` as const
const templates = `${orgPath}/messages/templates` as const
const template = `${templates}/:templateId` as const

/** Connections, templates and messages of a workspace. */
export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: connections,
    summary: 'List connections for messages',
    description: 'Without passwords and keys.',
    example: { answer: [examples.connection] },
    status: 200,
    response: schema(t.Array(connectionView.json)),
    handle: (_request, scope) => listConnections(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: connections,
    summary: 'Create a connection for messages',
    description:
      'A mail server at a public address. Password and keys are stored encrypted and never returned; the secret that signs callbacks is returned only here.',
    example: {
      body: {
        name: 'Shop mail',
        host: 'mail.example.com',
        username: 'shop@example.com',
        password: 'example password',
        from: 'shop@example.com',
      },
      answer: examples.newConnection,
    },
    body: connectionInput,
    status: 201,
    response: newConnectionView,
    handle: ({ body }, scope) => createConnection(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: connection,
    summary: 'Get a connection for messages',
    description: 'Without its password and keys.',
    example: { params: { connectionId: ids.mailConnection }, answer: examples.connection },
    status: 200,
    response: connectionView,
    handle: ({ params }, scope) => getConnection(scope, params.connectionId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: connection,
    summary: 'Change a connection for messages',
    description:
      'Omitted properties stay unchanged; null clears an optional one. Another host, port, secure or username removes the password unless it is sent too.',
    example: { params: { connectionId: ids.mailConnection }, body: { name: 'Orders mail' }, answer: examples.renamedConnection },
    body: connectionChange,
    carries: newConnectionView,
    stored: ({ params }, scope) => connectionAtCreation(scope, params.connectionId),
    status: 200,
    response: connectionView,
    handle: ({ params, body }, scope) => changeConnection(scope, params.connectionId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: connection,
    summary: 'Delete a connection for messages',
    description: "The connection's queued messages fail; sent ones stay readable.",
    example: { params: { connectionId: ids.mailConnection } },
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeConnection(scope, params.connectionId),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${connection}/test`,
    summary: 'Test a connection for messages',
    description: 'Signs in to the server and disconnects. The answer is the connection with the resulting status and error.',
    example: { params: { connectionId: ids.mailConnection }, answer: examples.checkedConnection },
    job: testMessageConnectionJob,
    makes: 'json',
    payload: async ({ params }, scope) => ({ connectionId: (await requireConnection(scope, params.connectionId)).id }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: templates,
    summary: 'List templates of messages',
    description: 'Oldest first, without their bodies.',
    example: { query: { limit: 20 }, answer: [examples.templateSummary] },
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(templateSummary.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listTemplates(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: templates,
    summary: 'Create a template of messages',
    description: '`{{name}}` in the subject and bodies is replaced by the variable of the message.',
    example: {
      body: {
        name: 'Order received',
        subject: 'Your order of {{total}} EUR',
        body_text: examples.messageTemplate.body_text,
        body_html: examples.messageTemplate.body_html,
      },
      answer: examples.messageTemplate,
    },
    body: templateInput,
    status: 201,
    response: templateView,
    handle: ({ body }, scope) => createTemplate(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: template,
    summary: 'Get a template of messages',
    description: 'With its subject and bodies.',
    example: { params: { templateId: ids.template }, answer: examples.messageTemplate },
    status: 200,
    response: templateView,
    handle: ({ params }, scope) => getTemplate(scope, params.templateId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: template,
    summary: 'Change a template of messages',
    description: 'Omitted properties stay unchanged. Queued messages keep their text.',
    example: { params: { templateId: ids.template }, body: { subject: 'We have your order, {{name}}' }, answer: examples.changedTemplate },
    body: templateChange,
    stored: ({ params }, scope) => getTemplate(scope, params.templateId),
    status: 200,
    response: templateView,
    handle: ({ params, body }, scope) => changeTemplate(scope, params.templateId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: template,
    summary: 'Delete a template of messages',
    description: 'Queued messages made from it are still sent.',
    example: { params: { templateId: ids.template } },
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeTemplate(scope, params.templateId),
  }),
  ...messages,
]
