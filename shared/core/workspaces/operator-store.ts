import type { Workspace } from '#shared/core/scope/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, boolean, instant, integer, type RowOf, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

// What operators see and change of all workspaces, on the command line and in the console.

const listed = `select workspace.id, workspace.name,
     case when workspace.deleting_at is null then workspace.status else 'deleting' end as status, workspace.plan, owner.email as owner,
     (select count(*)::integer from members where members.workspace_id = workspace.id) as members, workspace.created_at
   from workspaces as workspace join users as owner on owner.id = workspace.owner_id`

const listedColumns = {
  id: uuid.notNull,
  name: text.notNull,
  /** `provisioning`, `active`, `suspended`, or `deleting`. */
  status: text.notNull,
  plan: text.as<Workspace['plan']>().notNull,
  owner: text.notNull,
  members: integer.notNull,
  created_at: instant.notNull,
}

/** Lists all workspaces, oldest first. */
export const listWorkspaces = statement(
  'workspaces.listWorkspaces',
  `${listed}
   order by workspace.created_at, workspace.id`,
  { params: {}, columns: listedColumns },
)

export type ListedWorkspace = RowOf<typeof listedColumns>

/** Workspaces before an id, newest first: those with a text in their name or as id, or all where it is empty. */
export const searchWorkspaces = statement(
  'workspaces.searchWorkspaces',
  `${listed}
   where workspace.id < $beforeId
     and ($q::text = '' or position(lower($q) in lower(workspace.name)) > 0 or workspace.id::text = lower($q))
   order by workspace.id desc
   limit $limit`,
  { params: { q: text, beforeId: uuid, limit: bigint }, columns: listedColumns },
)

/** One workspace as the lists show it. */
export const findListedWorkspace = statement('workspaces.findListedWorkspace', `${listed} where workspace.id = $id`, {
  params: { id: uuid },
  columns: listedColumns,
})

/** The names of workspaces. */
export const findWorkspaceNames = statement('workspaces.findWorkspaceNames', 'select id, name from workspaces where id = any($ids)', {
  params: { ids: uuids },
  columns: { id: uuid.notNull, name: text.notNull },
})

/** Locks a workspace and returns what operators change of it; no row when there is none. */
export const lockOperatedWorkspace = statement(
  'workspaces.lockOperatedWorkspace',
  'select id, name, status, plan, deleting_at is not null as is_deleting from workspaces where id = $id for no key update',
  {
    params: { id: uuid },
    columns: {
      id: uuid.notNull,
      name: text.notNull,
      status: text.as<Workspace['status']>().notNull,
      plan: text.as<Workspace['plan']>().notNull,
      is_deleting: boolean.notNull,
    },
  },
)

const personColumns = {
  id: uuid.notNull,
  email: text.notNull,
  name: text.notNull,
  owns: integer.notNull,
  belongs_to: integer.notNull,
  created_at: instant.notNull,
}

/** Lists the people with an account, or the members of one workspace, by address. */
export const listPeople = statement(
  'workspaces.listPeople',
  `select person.id, person.email, person.name,
     (select count(*)::integer from workspaces where workspaces.owner_id = person.id) as owns,
     (select count(*)::integer from members where members.user_id = person.id) as belongs_to,
     person.created_at
   from users as person
   where $workspaceId::uuid is null
     or exists (select from members where members.workspace_id = $workspaceId and members.user_id = person.id)
   order by lower(person.email), person.id`,
  { params: { workspaceId: uuid.orNull }, columns: personColumns },
)

const usageColumns = {
  members: integer.notNull,
  service_accounts: integer.notNull,
  record_types: integer.notNull,
  records: bigint.notNull,
  record_bytes: bigint.notNull,
  function_runs_day: integer.notNull,
  function_seconds_day: integer.notNull,
  mails_day: integer.notNull,
}

const selectWorkspaceUsage = statement(
  'workspaces.selectWorkspaceUsage',
  `select
     (select count(*)::integer from members where workspace_id = $workspaceId) as members,
     (select count(*)::integer from service_accounts where workspace_id = $workspaceId) as service_accounts,
     (select count(*)::integer from record_types where workspace_id = $workspaceId) as record_types,
     (select coalesce(sum(records), 0)::bigint from record_counts where workspace_id = $workspaceId) as records,
     (select coalesce(sum(pg_total_relation_size(class.oid)), 0)::bigint from pg_class as class
       where class.relnamespace = to_regnamespace($schema) and class.relkind = 'r') as record_bytes,
     run.count as function_runs_day, run.seconds as function_seconds_day,
     (select count(*)::integer from outbox_mails
       where workspace_id = $workspaceId and created_at > now() - interval '1 day') as mails_day
   from (
     select count(*)::integer as count, coalesce(sum(duration_ms) / 1000, 0)::integer as seconds from function_runs
     where workspace_id = $workspaceId and finished_at > now() - interval '1 day'
   ) as run`,
  { params: { workspaceId: uuid, schema: text }, columns: usageColumns },
)
/** What a workspace holds, and what it did in the last day. `record_bytes` includes indexes. */
export async function readWorkspaceUsage(db: Executor, workspaceId: string): Promise<RowOf<typeof usageColumns> | undefined> {
  return (await db.query(selectWorkspaceUsage({ workspaceId, schema: schemaOf(workspaceId) })))[0]
}
