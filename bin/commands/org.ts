import type { Workspace } from '#shared/core/scope/store.ts'
import { changeWorkspaceStatus, setWorkspacePlan } from '#shared/core/workspaces/store.ts'
import { viewWorkspace } from '#shared/core/workspaces/workspaces.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { type CommandResult, command } from '../command.ts'
import type { CommandScope } from '../command-scope.ts'
import { createReadyWorkspace, requirePerson, workspaceScope } from '../workspaces.ts'

const org = t.String({ description: 'id of the workspace' })
const plan = t.Enum(['free', 'paid'])

/** Result of a command that changed a workspace. */
const workspaceResult = ({ id, name, status, plan }: Workspace): CommandResult => ({
  data: { id, name, status, plan },
  lines: [`${name} (${id}): ${status}, ${plan} plan`],
})

/** Changes the status of a workspace from one value to another. Idempotent; ORG_NOT_READY for any other status. */
async function changeStatus(
  platform: CommandScope,
  id: string,
  from: Workspace['status'],
  to: Workspace['status'],
): Promise<CommandResult> {
  const { workspace } = await workspaceScope(platform, id)
  if (workspace.status !== to && !(await changeWorkspaceStatus(platform.db, workspace.id, from, to))) {
    throw problem('ORG_NOT_READY', `The workspace is ${workspace.status}, only one that is ${from} can become ${to}`)
  }
  return workspaceResult({ ...workspace, status: to })
}

export const orgCommands = [
  command({
    name: 'org create',
    summary: 'Create a workspace, ready for use',
    options: schema(
      t.Object({
        name: nameSchema(120),
        owner: t.String({ description: 'address or id of the person who owns it' }),
        plan: t.Optional(plan),
      }),
    ),
    run: async ({ name, owner, plan }, platform) => {
      const person = await requirePerson(platform, owner)
      const created = await createReadyWorkspace(platform, { name, plan: plan ?? platform.config.defaultPlan, owner: person })
      return { data: viewWorkspace({ workspace: created }), lines: workspaceResult(created).lines }
    },
  }),
  command({
    name: 'org suspend',
    summary: 'Refuse every call of a workspace, by 403 ORG_SUSPENDED',
    options: schema(t.Object({ org })),
    run: ({ org }, platform) => changeStatus(platform, org, 'active', 'suspended'),
  }),
  command({
    name: 'org resume',
    summary: 'Resume a workspace',
    options: schema(t.Object({ org })),
    run: ({ org }, platform) => changeStatus(platform, org, 'suspended', 'active'),
  }),
  command({
    name: 'org plan',
    summary: 'Change the plan of a workspace',
    options: schema(t.Object({ org, plan })),
    run: async ({ org, plan }, platform) => {
      const { workspace } = await workspaceScope(platform, org)
      await setWorkspacePlan(platform.db, workspace.id, plan)
      return workspaceResult({ ...workspace, plan })
    },
  }),
]
