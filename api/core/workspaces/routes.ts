import * as examples from '#api/core/workspaces/examples.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { workspace, workspaceInput, workspaceList } from '#shared/core/workspaces/schemas.ts'
import { createWorkspace, listWorkspaces, viewWorkspace } from '#shared/core/workspaces/workspaces.ts'

const common = { tag: 'Workspaces', app: null, limit: null } as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: '/orgs',
    summary: 'List my workspaces',
    description: 'The workspaces that the calling person is a member of, oldest first.',
    example: { answer: [examples.workspace] },
    permission: 'person',
    status: 200,
    response: workspaceList,
    handle: (_, scope) => listWorkspaces(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/orgs',
    summary: 'Create a workspace',
    description:
      'A worker sets it up; until then its routes answer 503 ORG_NOT_READY with Retry-After. By default a person may own 100 workspaces, and make 20 an hour.',
    example: { body: { name: 'Harbour Coffee Academy' }, answer: examples.newWorkspace },
    permission: 'person',
    fails: ['RATE_LIMITED'],
    body: workspaceInput,
    status: 201,
    response: workspace,
    handle: ({ body }, scope) => createWorkspace(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: orgPath,
    summary: 'Get a workspace',
    description: 'Every member and every access key of the workspace may read the settings.',
    example: { answer: examples.workspace },
    permission: 'member',
    status: 200,
    response: workspace,
    handle: async (_, scope) => viewWorkspace(scope),
  }),
]
