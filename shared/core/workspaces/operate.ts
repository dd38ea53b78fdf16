import { recordAction } from '#shared/core/operators/log.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import { lockOperatedWorkspace } from '#shared/core/workspaces/operator-store.ts'
import type { OperatedWorkspace } from '#shared/core/workspaces/schemas.ts'
import { changeWorkspaceStatus, setWorkspacePlan } from '#shared/core/workspaces/store.ts'
import { firstRow, type Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

type Acting = Pick<PlatformScope, 'db' | 'operator'>

/**
 * Suspends a workspace. Throws NOT_FOUND when there is none, VALIDATION_ERROR for one that is suspended already, and while it is being set up
 * or deleted.
 */
export const suspendWorkspace = (scope: Acting, id: string): Promise<OperatedWorkspace> => changeStatus(scope, id, 'suspended')

/** Resumes a suspended workspace. Throws as `suspendWorkspace`, also for one that is not suspended. */
export const resumeWorkspace = (scope: Acting, id: string): Promise<OperatedWorkspace> => changeStatus(scope, id, 'active')

function changeStatus(scope: Acting, id: string, to: 'active' | 'suspended'): Promise<OperatedWorkspace> {
  return operate(scope, id, async (tx, workspace) => {
    if (workspace.status === to) {
      const state = to === 'active' ? 'not suspended' : 'suspended already'
      throw problem('VALIDATION_ERROR', `The workspace ${workspace.name} is ${state}`)
    }
    const from = to === 'active' ? 'suspended' : 'active'
    if (!(await firstRow(tx, changeWorkspaceStatus({ id: workspace.id, from, to }))))
      throw problem('VALIDATION_ERROR', `The workspace ${workspace.name} is ${workspace.status}; only one that is ${from} can become ${to}`)
    const action = to === 'active' ? 'workspaces.resume' : 'workspaces.suspend'
    await recordAction(tx, operatorOf(scope), action, { workspace: workspace.id, name: workspace.name })
    return { ...workspace, status: to }
  })
}

/**
 * Changes the plan of a workspace. Throws NOT_FOUND when there is none, VALIDATION_ERROR for one that has the plan already, and while it is
 * being deleted.
 */
export function changePlan(scope: Acting, id: string, plan: Workspace['plan']): Promise<OperatedWorkspace> {
  return operate(scope, id, async (tx, workspace) => {
    if (workspace.plan === plan) throw problem('VALIDATION_ERROR', `The workspace ${workspace.name} has the plan ${plan} already`)
    await tx.query(setWorkspacePlan({ id: workspace.id, plan }))
    const subject = { workspace: workspace.id, name: workspace.name, plan, plan_before: workspace.plan }
    await recordAction(tx, operatorOf(scope), 'workspaces.plan', subject)
    return { ...workspace, plan }
  })
}

/**
 * Acts on a workspace with its row locked: of actions at the same time, each sees what the one before left. Throws VALIDATION_ERROR for a
 * workspace that is being deleted.
 */
function operate(
  { db }: Acting,
  id: string,
  act: (tx: Tx, workspace: OperatedWorkspace) => Promise<OperatedWorkspace>,
): Promise<OperatedWorkspace> {
  return db.transaction(async (tx) => {
    const found = isUuid(id) ? await firstRow(tx, lockOperatedWorkspace({ id })) : undefined
    if (!found) throw problem('NOT_FOUND', `There is no workspace ${id}`)
    const { is_deleting, ...workspace } = found
    if (is_deleting) throw problem('VALIDATION_ERROR', `The workspace ${workspace.name} is being deleted`)
    return act(tx, workspace)
  })
}
