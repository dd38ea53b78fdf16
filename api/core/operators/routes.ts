import * as examples from '#api/core/operators/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer } from '#api/http/route.ts'
import { listActions } from '#shared/core/operators/log.ts'
import { actionPage, actionsQuery } from '#shared/core/operators/schemas.ts'
import { changePlan, resumeWorkspace, suspendWorkspace } from '#shared/core/workspaces/operate.ts'
import { operatedWorkspace, planChange } from '#shared/core/workspaces/schemas.ts'

const common = { tag: 'Operators', app: null, permission: 'operator', limit: null } as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: '/operator/log',
    summary: 'List what operators did',
    description: 'Newest first. An action and its entry are written in one transaction; entries never change.',
    example: { query: { limit: 20 }, answer: examples.log },
    query: actionsQuery,
    status: 200,
    response: actionPage,
    handle: ({ query }, scope) => listActions(scope, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/operator/workspaces/:id/suspend',
    summary: 'Suspend a workspace',
    description: 'Its calls are refused with ORG_SUSPENDED, and its work rests. 400 for one that is suspended already.',
    example: { params: { id: ids.workspace }, answer: { ...examples.workspace, status: 'suspended' } },
    status: 200,
    response: operatedWorkspace,
    handle: ({ params }, scope) => suspendWorkspace(scope, params.id),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/operator/workspaces/:id/resume',
    summary: 'Resume a suspended workspace',
    description: '400 for one that is not suspended.',
    example: { params: { id: ids.workspace }, answer: examples.workspace },
    status: 200,
    response: operatedWorkspace,
    handle: ({ params }, scope) => resumeWorkspace(scope, params.id),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/operator/workspaces/:id/plan',
    summary: 'Change the plan of a workspace',
    description: '400 for a workspace that has the plan already.',
    example: { params: { id: ids.workspace }, body: { plan: 'free' }, answer: { ...examples.workspace, plan: 'free' } },
    body: planChange,
    status: 200,
    response: operatedWorkspace,
    handle: ({ params, body: { plan } }, scope) => changePlan(scope, params.id, plan),
  }),
]
