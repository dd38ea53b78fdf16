import { answer, orgPath } from '#api/http/route.ts'
import { workspace, workspaceChanges, workspaceInput, workspaceList } from '#shared/core/workspaces/schemas.ts'
import { changeWorkspaceSettings, createWorkspace, listWorkspaces } from '#shared/core/workspaces/workspaces.ts'
import { requireLogo } from '#shared/features/sites/logo.ts'

const common = { tag: 'Workspaces', app: null, limit: null } as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: '/orgs',
    summary: 'List my workspaces',
    description: 'The workspaces that the calling person is a member of, oldest first.',
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
    description: 'A worker sets it up; until then its routes answer 503 ORG_NOT_READY with Retry-After.',
    permission: 'person',
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
    description: 'Every member and every key of it may read its settings.',
    permission: 'member',
    status: 200,
    response: workspace,
    handle: async (_, scope) => scope.workspace,
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: orgPath,
    summary: "Change a workspace's settings",
    description:
      'Omitted keys stay unchanged. `default_currency` is fixed once an entry is posted in single-currency books; `multi_currency` can only be switched on.',
    permission: 'org:update',
    body: workspaceChanges,
    stored: (_, scope) => scope.workspace,
    status: 200,
    response: workspace,
    handle: async ({ body }, scope) => {
      if (typeof body.logo === 'string') await requireLogo(scope, body.logo)
      return changeWorkspaceSettings(scope, body)
    },
  }),
]
