import { requestDeletion } from '#shared/core/workspaces/delete-workspace.ts'
import { changePlan, resumeWorkspace, suspendWorkspace } from '#shared/core/workspaces/operate.ts'
import { listWorkspaces, readWorkspaceUsage } from '#shared/core/workspaces/operator-store.ts'
import type { OperatedWorkspace } from '#shared/core/workspaces/schemas.ts'
import { viewWorkspace } from '#shared/core/workspaces/workspaces.ts'
import { findUsage } from '#shared/features/drive/store.ts'
import type { WorkspaceLoad } from '#shared/features/installation/schemas.ts'
import { listWorkspaceLoads } from '#shared/features/installation/workspaces.ts'
import { countQueuedJobs } from '#shared/platform/jobs/pgboss/queue-loads.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { type CommandResult, command } from '../command.ts'
import { formatTable } from '../table.ts'
import { createReadyWorkspace, requirePerson, workspaceScope } from '../workspaces.ts'

const org = t.String({ description: 'id or name of the workspace' })
const plan = t.Enum(['free', 'paid'])

/** Result of a command that changed a workspace. */
const workspaceResult = ({ id, name, status, plan }: OperatedWorkspace): CommandResult => ({
  data: { id, name, status, plan },
  lines: [`${name} (${id}): ${status}, ${plan} plan`],
})

/** The most workspaces that `org top` lists without --json. */
const maxTop = 50

const loadHeading = [
  ...['id', 'name', 'calls', 'computing s', 'database s', 'jobs', 'job s', 'share of jobs'],
  ...['waiting', 'rows', 'MB of rows', 'MB of files', 'mails'],
]

const loadCells = (load: WorkspaceLoad) => [
  ...[load.id, load.name, load.calls, load.computing_seconds, load.database_seconds, load.jobs, load.job_seconds],
  ...[
    `${Math.round(load.job_share * 100)} %`,
    load.waiting,
    load.rows,
    megabytes(load.row_bytes),
    megabytes(load.file_bytes),
    load.mails_day,
  ],
]

const megabytes = (bytes: number): number => Math.round(bytes / 100_000) / 10

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
    name: 'org list',
    summary: 'Show all workspaces: id, name, status, plan, owner, members',
    options: schema(t.Object({})),
    run: async (_, { db }) => {
      const workspaces = await db.query(listWorkspaces())
      const rows = workspaces.map(({ id, name, status, plan, owner, members, created_at }) => [
        id,
        name,
        status,
        plan,
        owner,
        members,
        created_at,
      ])
      return { data: { workspaces }, lines: formatTable([['id', 'name', 'status', 'plan', 'owner', 'members', 'created at'], ...rows]) }
    },
  }),
  command({
    name: 'org usage',
    summary: 'Show what a workspace holds, what waits, and what it did in the last day',
    options: schema(t.Object({ org })),
    run: async ({ org }, platform) => {
      const { workspace } = await workspaceScope(platform, org)
      const { db } = platform
      const [held, [files]] = [await readWorkspaceUsage(db, workspace.id), await db.query(findUsage({ workspaceId: workspace.id }))]
      const loads = await countQueuedJobs(db, workspace.id)
      const jobs_waiting = loads.reduce((sum, { waiting }) => sum + waiting, 0)
      const usage = { ...held, file_bytes: files?.total_bytes ?? 0, jobs_waiting }
      const rows = Object.entries(usage).map(([name, value]) => [name.replaceAll('_', ' '), value])
      return {
        data: { id: workspace.id, name: workspace.name, ...usage },
        lines: [`${workspace.name} (${workspace.id})`, ...formatTable(rows)],
      }
    },
  }),
  command({
    name: 'org top',
    summary: 'Show what was done for each workspace in the last day, what it holds and what waits for it; the busiest come first',
    options: schema(t.Object({})),
    run: async (_, { db, now }) => {
      const workspaces = await listWorkspaceLoads(db, now())
      const rows = workspaces.slice(0, maxTop).map(loadCells)
      const more = workspaces.length > maxTop ? ['', `The first ${maxTop} of ${workspaces.length} (--json lists all)`] : []
      return { data: { workspaces }, lines: [...formatTable([loadHeading, ...rows]), ...more] }
    },
  }),
  command({
    name: 'org delete',
    summary: 'Delete a workspace and everything in it, by a job, for good',
    options: schema(
      t.Object({
        org,
        name: t.String({ description: 'name of the workspace, to make sure that it is the right one' }),
        yes: t.Optional(t.Boolean({ description: 'without it nothing is deleted' })),
      }),
    ),
    run: async ({ org, name, yes = false }, platform) => {
      const { workspace } = await workspaceScope(platform, org)
      if (workspace.name !== name) {
        throw problem('VALIDATION_ERROR', `The workspace ${workspace.id} is named ${workspace.name}, not ${name}`)
      }
      if (!yes) {
        const { records = 0, members = 0 } = (await readWorkspaceUsage(platform.db, workspace.id)) ?? {}
        throw problem(
          'VALIDATION_ERROR',
          `${name} has ${records} records and ${members} members; --yes deletes it with everything in it, for good`,
        )
      }
      await requestDeletion(platform, workspace.id)
      const line = `${name} (${workspace.id}) is suspended; a worker of the pool data deletes it. kontor org list shows it until it is gone.`
      return { data: { id: workspace.id, name, deleting: true }, lines: [line] }
    },
  }),
  command({
    name: 'org suspend',
    summary: 'Refuse every call of a workspace, by 403 ORG_SUSPENDED',
    options: schema(t.Object({ org })),
    run: async ({ org }, platform) => {
      const { workspace } = await workspaceScope(platform, org)
      return workspaceResult(await suspendWorkspace(platform, workspace.id))
    },
  }),
  command({
    name: 'org resume',
    summary: 'Resume a workspace',
    options: schema(t.Object({ org })),
    run: async ({ org }, platform) => {
      const { workspace } = await workspaceScope(platform, org)
      return workspaceResult(await resumeWorkspace(platform, workspace.id))
    },
  }),
  command({
    name: 'org plan',
    summary: 'Change the plan of a workspace',
    options: schema(t.Object({ org, plan })),
    run: async ({ org, plan }, platform) => {
      const { workspace } = await workspaceScope(platform, org)
      return workspaceResult(await changePlan(platform, workspace.id, plan))
    },
  }),
]
