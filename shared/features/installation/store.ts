import type { WorkspaceLoad } from '#shared/features/installation/schemas.ts'
import { bigint, boolean, instant, integer, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  name: text.notNull,
  status: text.as<WorkspaceLoad['status']>().notNull,
  plan: text.as<WorkspaceLoad['plan']>().notNull,
  owner: text.notNull,
  rows: bigint.notNull,
  /** Bytes of its tables with their indexes, as of the last vacuum or analysis of each. */
  row_bytes: bigint.notNull,
  file_bytes: bigint.notNull,
  mails_day: integer.notNull,
}

// Sizes come from the catalogue: asking the file system for each table of 200 workspaces would take seconds. Their schemas are named after them.
export const listWorkspaceHoldings = statement(
  'installation.listWorkspaceHoldings',
  `select workspace.id, workspace.name, case when workspace.deleting_at is null then workspace.status else 'deleting' end as status,
     workspace.plan, owner.email as owner, coalesce(counted.records, 0)::bigint as rows, coalesce(stored.bytes, 0)::bigint as row_bytes,
     coalesce(files.bytes, 0)::bigint as file_bytes, coalesce(mails.sent, 0)::integer as mails_day
   from workspaces as workspace
   join users as owner on owner.id = workspace.owner_id
   left join (select workspace_id, sum(records) as records from record_counts group by workspace_id) as counted
     on counted.workspace_id = workspace.id
   left join (
     select namespace.nspname, sum(class.relpages::bigint + coalesce(toast.relpages, 0)) * current_setting('block_size')::bigint as bytes
     from pg_namespace as namespace
     join pg_class as class on class.relnamespace = namespace.oid and class.relkind in ('r', 'i')
     left join pg_class as toast on toast.oid = class.reltoastrelid
     where namespace.nspname like 'ws\\_%' group by namespace.nspname
   ) as stored on stored.nspname = 'ws_' || replace(workspace.id::text, '-', '')
   left join (select workspace_id, sum(bytes) as bytes from drive_totals group by workspace_id) as files on files.workspace_id = workspace.id
   left join (
     select workspace_id, count(*) as sent from outbox_mails where created_at > now() - interval '1 day' group by workspace_id
   ) as mails on mails.workspace_id = workspace.id
   order by workspace.created_at, workspace.id`,
  { params: {}, columns },
)

const databaseColumns = {
  /** As of the last vacuum or analysis of each table. */
  size_bytes: bigint.notNull,
  /** Statements that have been running for more than 2 s. */
  slow_statements: integer.notNull,
}

/** The size of the database and its slow statements. */
export const readDatabaseLoad = statement(
  'installation.readDatabaseLoad',
  `select (select coalesce(sum(relpages::bigint), 0) * current_setting('block_size')::bigint from pg_class)::bigint as size_bytes,
     (
       select count(*)::integer from pg_stat_activity
       where backend_type = 'client backend' and state = 'active' and datname = current_database() and pid <> pg_backend_pid()
         and query_start < clock_timestamp() - interval '2 seconds'
     ) as slow_statements`,
  { params: {}, columns: databaseColumns },
)

const scheduleColumns = {
  kind: text.notNull,
  /** The id of a flow, or the name of a maintenance task. */
  subject: text.notNull,
  workspace_id: uuid,
  workspace: text,
  next: instant.notNull,
  held: boolean.notNull,
  last_at: instant,
  last_ms: integer,
  last_status: text,
  last_error: text,
}

// Of a run only its code is shown: its message may hold what is in records.
export const listSchedules = statement(
  'installation.listSchedules',
  `select due.kind, due.subject, due.workspace_id, workspaces.name as workspace, due.at as next, due.held,
     coalesce(task.began_at, run.created_at) as last_at,
     coalesce(task.ms, (extract(epoch from run.finished_at - run.created_at) * 1000)::integer) as last_ms,
     case when task.task is null then run.status when task.error is null then 'ok' else 'failed' end as last_status,
     coalesce(task.error, run.error ->> 'code') as last_error
   from due_work as due
   left join workspaces on workspaces.id = due.workspace_id
   left join maintenance_runs as task on due.kind = $maintenance and task.task = due.subject
   left join lateral (
     select status, created_at, finished_at, error from flow_runs
     where due.kind = $schedule and flow_runs.workspace_id = due.workspace_id and flow_runs.flow_id = due.subject::uuid
       and trigger_key like 'schedule %'
     order by id desc limit 1
   ) as run on true
   where due.kind in ($maintenance, $schedule)
   order by due.at, due.kind, due.subject limit $limit`,
  { params: { maintenance: text, schedule: text, limit: bigint }, columns: scheduleColumns },
)

/** How many due tasks of each kind wait for their time, and the first time. */
export const countDueByKind = statement(
  'installation.countDueByKind',
  'select kind, count(*)::integer as count, min(at) as next from due_work group by kind order by kind',
  { params: {}, columns: { kind: text.notNull, count: integer.notNull, next: instant } },
)
