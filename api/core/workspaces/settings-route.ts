import * as examples from '#api/core/workspaces/examples.ts'
import { answer, orgPath } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { workspace, workspaceChanges } from '#shared/core/workspaces/schemas.ts'
import { changeWorkspaceSettings, viewWorkspace } from '#shared/core/workspaces/workspaces.ts'

/** The route that changes a workspace's settings. `requireLogo` refuses a path that names no image. */
export const createSettingsRoute = (requireLogo: (scope: Scope, path: string) => Promise<void>) =>
  answer({
    tag: 'Workspaces',
    app: null,
    limit: null,
    method: 'PATCH',
    path: orgPath,
    summary: "Change a workspace's settings",
    description:
      'Omitted properties stay unchanged. `default_currency` is fixed once an entry is posted in single-currency books; `multi_currency` can only be switched on.',
    example: { body: { timezone: 'Europe/Berlin', default_currency: 'EUR' }, answer: examples.workspace },
    permission: 'org:update',
    body: workspaceChanges,
    stored: (_, scope) => viewWorkspace(scope),
    status: 200,
    response: workspace,
    handle: async ({ body }, scope) => {
      if (typeof body.logo === 'string') await requireLogo(scope, body.logo)
      return changeWorkspaceSettings(scope, body)
    },
  })
