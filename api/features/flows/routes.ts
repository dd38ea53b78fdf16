import * as examples from '#api/features/flows/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import { blockView } from '#shared/core/automation/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { listBlockKinds } from '#shared/features/flows/blocks.ts'
import { readDefinition } from '#shared/features/flows/definitions/check.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import { consumeDraftQuota } from '#shared/features/flows/definitions/draft.ts'
import { changeFlow, createFlow, removeFlow, requireFlow, viewFlow } from '#shared/features/flows/definitions/flows.ts'
import { listFlows } from '#shared/features/flows/definitions/list.ts'
import {
  draftInput,
  type FlowDefinitionInput,
  flowChange,
  flowInput,
  flowSummary,
  flowVersionView,
  flowView,
  runInput,
  startedRun,
} from '#shared/features/flows/definitions/schemas.ts'
import { listVersions, restoreVersion } from '#shared/features/flows/definitions/versions.ts'
import { generateFlowJob, rehearseFlowJob } from '#shared/features/flows/jobs.ts'
import { getFlowOverview } from '#shared/features/flows/runs/overview.ts'
import { rehearsalInput } from '#shared/features/flows/runs/rehearsal-schemas.ts'
import { flowOverview } from '#shared/features/flows/runs/schemas.ts'
import { runFlow } from '#shared/features/flows/runs/start.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Resolves the flow of a route; permissions are checked for its id. Throws NOT_FOUND. */
const onFlow = async ({ params }: { params: { flowId: string } }, scope: Scope) => {
  const resource = await requireFlow(scope, params.flowId)
  return { key: resource.id, resource }
}

const common = { tag: 'Flows', app: null, limit: null } as const
const all = `${orgPath}/flows` as const
const one = `${all}/:flowId` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List flows',
    description: 'Oldest first, without nodes and edges, each with its problems.',
    example: { query: { limit: 20 }, answer: [examples.flowSummary] },
    permission: 'flows:read',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(flowSummary.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listFlows(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a flow',
    description: 'A draft may lack blocks and settings: `problems` says what, and it stays disabled until there are none.',
    example: { body: examples.input, answer: examples.newFlow },
    permission: 'flows:create',
    body: flowInput,
    status: 201,
    response: flowView,
    handle: ({ body }, scope) => createFlow(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${all}/blocks`,
    summary: 'List the kinds of triggers and blocks',
    description: 'With JSON Schemas of their settings and outputs, for editors that draw flows.',
    example: { answer: [examples.block] },
    permission: 'flows:read',
    perItem: true,
    status: 200,
    response: schema(t.Array(blockView)),
    handle: async () => listBlockKinds(),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${all}/overview`,
    summary: 'Get an overview of the flows',
    description: 'Counts of flows and runs, the failing and the busiest flows, and the next scheduled runs.',
    example: { answer: examples.overview },
    permission: 'flows:read',
    perItem: true,
    status: 200,
    response: flowOverview,
    handle: (_request, scope) => getFlowOverview(scope),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a flow',
    description: 'With its nodes, edges and problems.',
    example: { params: { flowId: ids.flow }, answer: examples.flow },
    permission: 'flows:read',
    on: onFlow,
    status: 200,
    response: flowView,
    handle: ({ resource }, scope) => viewFlow(scope, resource),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Change a flow',
    description:
      'Any of nodes, edges and context replaces the whole definition, and the caller becomes the editor, with whose rights the flow ' +
      'runs. Name, description, enabled and positions keep the editor. Other omitted properties stay unchanged.',
    example: { params: { flowId: ids.flow }, body: { name: 'Tell the team about large orders' }, answer: examples.renamedFlow },
    permission: 'flows:update',
    on: onFlow,
    body: flowChange,
    stored: ({ resource }, scope) => viewFlow(scope, resource),
    status: 200,
    response: flowView,
    handle: ({ resource, body }, scope) => changeFlow(scope, resource.id, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a flow',
    description: "The flow's open runs end as failed; all of its runs stay readable.",
    example: { params: { flowId: ids.flow } },
    permission: 'flows:delete',
    on: onFlow,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => removeFlow(scope, resource.id),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/run`,
    summary: 'Run a flow',
    description: 'Also while the flow is disabled. Answers at once with the id of the run.',
    example: { params: { flowId: ids.flow }, body: { input: { order_id: ids.order } }, answer: { queued: true, run_id: ids.flowRun } },
    permission: 'flows:run',
    fails: ['RATE_LIMITED'],
    on: onFlow,
    body: runInput,
    status: 202,
    response: startedRun,
    handle: ({ resource, body }, scope) => runFlow(scope, resource.id, body.input, true),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/versions`,
    summary: 'List versions of a flow',
    description: "The flow's last definitions, newest first; the first is the current one.",
    example: { params: { flowId: ids.flow }, query: { limit: 20 }, answer: [examples.version] },
    permission: 'flows:read',
    on: onFlow,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(flowVersionView.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listVersions(scope, request.resource.id, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/versions/:version/restore`,
    summary: 'Go back to a version of a flow',
    description: "The definition of that version becomes the newest version, and the caller becomes the flow's editor.",
    example: { params: { flowId: ids.flow, version: '1' }, answer: examples.restoredFlow },
    permission: 'flows:update',
    on: onFlow,
    status: 200,
    response: flowView,
    handle: ({ resource, params }, scope) => restoreVersion(scope, resource.id, params.version),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${one}/rehearse`,
    summary: 'Rehearse a flow',
    description:
      'Runs the triggers of the newest runs through the saved flow, or through the definition that is sent, with the lesser of the ' +
      'rights of the caller and of the last editor, and rolls everything back. Answers the effects each run would have had.',
    example: { params: { flowId: ids.flow }, body: { runs: 1 }, answer: examples.rehearsal },
    permission: 'flows:update',
    on: onFlow,
    body: rehearsalInput,
    job: rehearseFlowJob,
    makes: 'json',
    payload: ({ resource: { id: flowId, nodes }, body: { runs, ...sent } }) => ({
      flowId,
      runs,
      definition: Object.keys(sent).length === 0 ? null : definitionOf(nodes, sent),
    }),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${all}/generate`,
    summary: 'Draft a flow',
    description: 'An assistant proposes a flow for the prompt; nothing is saved. The free plan has 20 drafts a day.',
    example: { body: { prompt: 'Tell everybody when an order of 1,000 or more comes in' }, answer: examples.draft },
    permission: 'flows:create',
    fails: ['AGENT_DISABLED', 'AGENT_ERROR', 'LIMIT_EXCEEDED'],
    body: draftInput,
    job: generateFlowJob,
    makes: 'json',
    payload: async ({ body }, scope) => {
      await consumeDraftQuota(scope)
      return { prompt: body.prompt }
    },
  }),
]

/** Definition in the payload of a rehearsal. Throws VALIDATION_ERROR when it could not be saved. */
function definitionOf(stored: FlowDefinition['nodes'], sent: FlowDefinitionInput) {
  const { nodes, edges, context } = readDefinition(sent, stored).definition
  return { nodes: [...nodes], edges: [...edges], context: { ...context } }
}
