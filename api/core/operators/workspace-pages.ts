import { consoleAddress } from '#api/access/operator-session.ts'
import { buttonForm, consolePage, formatTime, formTokenOf, queryAddress, seeOther, showConsole } from '#api/core/operators/console.ts'
import { formToken } from '#api/core/operators/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { page } from '#api/http/route.ts'
import { formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import { createReader, type PlatformScope } from '#shared/core/scope/scope.ts'
import { changePlan, resumeWorkspace, suspendWorkspace } from '#shared/core/workspaces/operate.ts'
import { findListedWorkspace, type ListedWorkspace, searchWorkspaces } from '#shared/core/workspaces/operator-store.ts'
import { planChange, planInput, workspaceSearch } from '#shared/core/workspaces/schemas.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { listById } from '#shared/platform/db/lists.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

interface WorkspacesView {
  readonly here: string
  readonly q: string
  readonly workspaces: readonly ListedWorkspace[]
  /** Address of the next page; empty on the last one. */
  readonly more: string
  readonly formatTime: (instant: string) => string
}
const renderWorkspaces = template<WorkspacesView>(new URL('workspaces.eta', import.meta.url))

interface WorkspaceView {
  readonly here: string
  readonly workspace: ListedWorkspace
  /** Links to the jobs and mails of the workspace. */
  readonly work: readonly { readonly text: string; readonly address: string }[]
  readonly mayAct: boolean
  /** The buttons: last part of the address, label, and the plan that it sends. */
  readonly actions: readonly { readonly action: string; readonly label: string; readonly plan?: string }[]
  readonly formToken: string
  readonly formatTime: (instant: string) => string
}
const renderWorkspace = template<WorkspaceView>(new URL('workspace.eta', import.meta.url))

const otherPlans = { free: 'paid', paid: 'free' } as const

/** The page of a workspace with its actions. Throws NOT_FOUND when there is none. */
async function workspacePage(scope: PlatformScope, id: string, failure?: Problem): Promise<Page> {
  const workspace = isUuid(id) ? await firstRow(scope.db, findListedWorkspace({ id })) : undefined
  if (!workspace) throw problem('NOT_FOUND', 'There is no workspace with this id')
  const otherPlan = otherPlans[workspace.plan]
  const content = renderWorkspace({
    here: consoleAddress(scope.config, `workspaces/${workspace.id}`),
    workspace,
    work: [
      ...(['waiting', 'running', 'failed'] as const).map((state) => ({
        text: `Jobs: ${state}`,
        address: queryAddress(scope, 'jobs', { workspace: workspace.id, state }),
      })),
      { text: 'Mails that wait or have failed', address: queryAddress(scope, 'mails', { workspace: workspace.id }) },
    ],
    mayAct: !operatorOf(scope).isReadOnly,
    actions: [
      ...(workspace.status === 'active' ? [{ action: 'suspend', label: 'Suspend' }] : []),
      ...(workspace.status === 'suspended' ? [{ action: 'resume', label: 'Resume' }] : []),
      ...(workspace.status === 'deleting' ? [] : [{ action: 'plan', label: `Change the plan to ${otherPlan}`, plan: otherPlan }]),
    ],
    formToken: formTokenOf(scope),
    formatTime,
  })
  return showConsole(scope, { title: workspace.name, place: 'workspaces', content, failure })
}

/** Acts on a workspace, then leads back to its page; the page says why an action was refused. */
async function actOn(scope: PlatformScope, id: string, act: () => Promise<unknown>) {
  try {
    await act()
    return seeOther(consoleAddress(scope.config, `workspaces/${id}`))
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return workspacePage(scope, id, error)
    throw error
  }
}

const acting = { ...consolePage, method: 'POST', fails: ['NOT_FOUND'], statuses: [303] } as const

export const workspacePages = [
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/workspaces',
    summary: 'Show the workspaces of the installation',
    description: 'Those whose name contains `q`, or whose id it is; all without it. Newest first.',
    example: { query: { q: 'harbour' }, file: 'Workspaces' },
    query: workspaceSearch,
    handle: async ({ query }, scope) => {
      const { q } = query
      const find = (beforeId: string, limit: number) => searchWorkspaces({ q: q?.trim() ?? '', beforeId, limit })
      const { page, next } = await listById({ ...scope, db: createReader(scope) }, query, find)
      const here = consoleAddress(scope.config, 'workspaces')
      // A cursor is for the parameters as they came, an empty one too.
      const more = next === null ? '' : queryAddress(scope, 'workspaces', { ...query, cursor: next })
      const content = renderWorkspaces({ here, q: q ?? '', workspaces: page, more, formatTime })
      return showConsole(scope, { title: 'Workspaces', place: 'workspaces', content })
    },
  }),
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/workspaces/:id',
    summary: 'Show a workspace to operators',
    description: 'With buttons to suspend or resume it, and to change its plan.',
    example: { params: { id: ids.workspace }, file: 'Harbour Coffee' },
    handle: ({ params }, scope) => workspacePage(scope, params.id),
  }),
  page({
    ...acting,
    path: '/operator/workspaces/:id/suspend',
    summary: 'Suspend a workspace by its page',
    description: 'As the route of operators does.',
    example: { params: { id: ids.workspace }, body: formToken },
    form: buttonForm,
    handle: ({ params: { id } }, scope) => actOn(scope, id, () => suspendWorkspace(scope, id)),
  }),
  page({
    ...acting,
    path: '/operator/workspaces/:id/resume',
    summary: 'Resume a workspace by its page',
    description: 'As the route of operators does.',
    example: { params: { id: ids.workspace }, body: formToken },
    form: buttonForm,
    handle: ({ params: { id } }, scope) => actOn(scope, id, () => resumeWorkspace(scope, id)),
  }),
  page({
    ...acting,
    path: '/operator/workspaces/:id/plan',
    summary: 'Change the plan of a workspace by its page',
    description: 'As the route of operators does.',
    example: { params: { id: ids.workspace }, body: { plan: 'free', ...formToken } },
    form: schema(t.Object({ plan: planInput, ...formTokenInput }, { title: 'ConsolePlanChange' })),
    handle: ({ params: { id }, body }, scope) =>
      actOn(scope, id, () => changePlan(scope, id, planChange.parse({ plan: body.get('plan') ?? undefined }).plan)),
  }),
]
