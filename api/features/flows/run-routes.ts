import * as examples from '#api/features/flows/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { cancelRun, retryRun } from '#shared/features/flows/runs/cancel-retry.ts'
import { getFlowRun, listFlowRuns, listRunsOfFlow, requireFlowWithRuns } from '#shared/features/flows/runs/runs.ts'
import { flowRunPage, flowRunQuery, flowRunView, runList } from '#shared/features/flows/runs/schemas.ts'

/** Runs outlive their flow, so the permission is also checked for the id of a deleted flow. */
const onRuns = async ({ params }: { params: { flowId: string } }, scope: Scope) => {
  const flowId = await requireFlowWithRuns(scope, params.flowId)
  return { key: flowId, resource: flowId }
}

const common = { tag: 'Flows', app: null, limit: null } as const
const runs = `${orgPath}/flows/:flowId/runs` as const

/** Routes of runs. */
export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/flows/runs`,
    summary: 'List the runs of all flows',
    description: 'Newest first, of the last 30 days, including runs of deleted flows.',
    example: { query: { status: 'ok', limit: 20 }, answer: { runs: [examples.runSummary], next_cursor: null } },
    permission: 'flows:read',
    perItem: true,
    query: flowRunQuery,
    status: 200,
    response: flowRunPage,
    handle: ({ query }, scope) => listFlowRuns(scope, query),
  }),
  answer({
    ...common,
    method: 'GET',
    path: runs,
    summary: 'List the runs of a flow',
    description: 'The last 50, newest first.',
    example: { params: { flowId: ids.flow }, answer: [examples.runSummary] },
    permission: 'flows:read',
    on: onRuns,
    status: 200,
    response: runList,
    handle: ({ resource }, scope) => listRunsOfFlow(scope, resource),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${runs}/:runId`,
    summary: 'Get a run of a flow',
    description: 'With its steps; values of records as far as the caller may read them now.',
    example: { params: { flowId: ids.flow, runId: ids.flowRun }, answer: examples.run },
    permission: 'flows:read',
    on: onRuns,
    status: 200,
    response: flowRunView,
    handle: ({ resource, params }, scope) => getFlowRun(scope, resource, params.runId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${runs}/:runId/cancel`,
    summary: 'Cancel a run',
    description: 'Takes effect at once; the answer of a pending call is dropped.',
    example: { params: { flowId: ids.flow, runId: ids.flowRun }, answer: examples.cancelledRun },
    permission: 'flows:run',
    on: onRuns,
    status: 200,
    response: flowRunView,
    handle: ({ resource, params }, scope) => cancelRun(scope, resource, params.runId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${runs}/:runId/retry`,
    summary: 'Continue a run that ended',
    description: 'In a new run, from the step at which it failed or was cancelled, by the same definition and with the same editor.',
    example: { params: { flowId: ids.flow, runId: ids.flowRun }, answer: examples.retry },
    permission: 'flows:run',
    on: onRuns,
    fails: ['RATE_LIMITED'],
    status: 202,
    response: flowRunView,
    handle: ({ resource, params }, scope) => retryRun(scope, resource, params.runId),
  }),
]
