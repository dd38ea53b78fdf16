import { flowLimits } from '#shared/features/flows/limits.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  event_listeners_type: ['VALIDATION_ERROR', 'object_type must be the key of a record type'],
  flows_cap: ['VALIDATION_ERROR', `a workspace can have ${flowLimits.perWorkspace} flows; delete some first`],
  flow_runs_retry: ['VALIDATION_ERROR', 'The run was tried again already; go on with that run'],
})

/** Kind of the due tasks for schedules of flows. */
export const scheduleKind = 'flows.schedule'

const listed = `flow.id, flow.name, flow.description, flow.enabled, flow.version, flow.created_at, flow.updated_at,
  made.context, made.editor_id, last.created_at as last_run_at, due.at as next_run_at`
const whole = `${listed}, flow.positions, made.nodes, made.edges`

const parts = `join flow_versions as made
    on made.workspace_id = flow.workspace_id and made.flow_id = flow.id and made.version = flow.version
  left join lateral (
    select created_at from flow_runs
    where flow_runs.workspace_id = flow.workspace_id and flow_runs.flow_id = flow.id order by id desc limit 1
  ) as last on true
  left join due_work as due
    on due.workspace_id = flow.workspace_id and due.kind = '${scheduleKind}' and due.subject = flow.id::text`

/**
 * Flows of a workspace without blocks and edges, in the order of their creation. Values: workspace, instant and id after which the page
 * begins, maximum number.
 */
export const findFlows = creationPageSql(
  'list_flows',
  `select ${listed}, pg_column_size(made.nodes) as node_bytes from flows as flow ${parts} where flow.workspace_id = $1`,
  1,
)

/** The blocks of one version of each flow. Values: workspace, flow ids, and in the same order their versions. */
export const findFlowNodes = sql(
  'find_flow_nodes',
  `select made.flow_id, made.nodes from unnest($2::uuid[], $3::integer[]) as asked (flow_id, version)
   join flow_versions as made on made.workspace_id = $1 and made.flow_id = asked.flow_id and made.version = asked.version
   order by made.flow_id`,
)

/** One flow with blocks, edges and positions. Values: workspace, id. */
export const findFlow = sql('find_flow', `select ${whole} from flows as flow ${parts} where flow.workspace_id = $1 and flow.id = $2`)

/** The ids and keys that flows of a workspace may refer to. Values: workspace. */
export const findSurroundings = sql(
  'find_flow_surroundings',
  `select
     (select coalesce(json_object_agg(type.key, array(
        select field.key from fields as field where field.workspace_id = $1 and field.type_id = type.id order by field.key
      )), '{}') from record_types as type where type.workspace_id = $1) as fields,
     array(select id::text from functions where workspace_id = $1) as functions,
     array(select id::text from message_connections where workspace_id = $1) as connections,
     array(select id::text from message_templates where workspace_id = $1) as templates,
     array(select id::text from payment_connections where workspace_id = $1) as payment_connections,
     array(select key from queues where workspace_id = $1 and deleted_at is null) as queues,
     array(select key from calendars where workspace_id = $1 and left_at is null) as calendars`,
)

/** Inserts a flow with its first version. Values: workspace, id, name, description, positions, nodes, edges, context, editor, now. */
export const insertFlow = sql(
  'insert_flow',
  `with made as (
     insert into flows (workspace_id, id, name, description, positions, created_at, updated_at)
     values ($1::uuid, $2::uuid, $3, $4, $5::json, $10::timestamptz, $10::timestamptz) returning id
   )
   insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
   select $1, id, 1, $6::json, $7::json, $8::json, $9::uuid, $10::timestamptz from made
   returning flow_id`,
)

/** Locks a flow's row until the transaction ends. Values: workspace, id. */
export const lockFlow = sql('lock_flow', 'select id, version from flows where workspace_id = $1 and id = $2 for update')

/** Changes a flow; null leaves a column unchanged. Values: workspace, id, name, description, enabled, version, positions, now. */
export const updateFlow = sql(
  'update_flow',
  `update flows
   set name = coalesce($3, name), description = coalesce($4, description), enabled = coalesce($5, enabled), version = coalesce($6, version),
     positions = coalesce($7::json, positions), updated_at = $8
   where workspace_id = $1 and id = $2`,
)

/** Inserts a version of a flow. Values: workspace, flow, version, nodes, edges, context, editor, now. */
export const insertVersion = sql(
  'insert_flow_version',
  `insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
   values ($1, $2, $3, $4::json, $5::json, $6::json, $7, $8)`,
)

/**
 * Deletes old versions, except those of open, failed and cancelled runs. Values: workspace, flow, the oldest version to keep in any case.
 */
export const deleteOldFlowVersions = sql(
  'forget_flow_versions',
  `delete from flow_versions as old
   where workspace_id = $1 and flow_id = $2 and version < $3 and not exists (
     select from flow_runs as run
     where run.workspace_id = old.workspace_id and run.flow_id = old.flow_id and run.version = old.version and run.status <> 'ok'
   )`,
)

/** Deletes a flow with its versions. Values: workspace, id. */
export const deleteFlow = sql('delete_flow', 'delete from flows where workspace_id = $1 and id = $2 returning id')

const versionColumns = 'version, editor_id, created_at, nodes, edges, context'

/**
 * The kept versions of a flow, newest first. Values: workspace, flow, version below which the page begins or null, maximum number or null.
 */
export const findVersions = sql(
  'find_flow_versions',
  `select ${versionColumns} from flow_versions
   where workspace_id = $1 and flow_id = $2 and ($3::integer is null or version < $3::integer) order by version desc limit $4::integer`,
)

/** One version of a flow. Values: workspace, flow, version. */
export const findVersion = sql(
  'find_flow_version',
  `select ${versionColumns} from flow_versions where workspace_id = $1 and flow_id = $2 and version = $3`,
)

/** Those of these flows that are enabled, with their present version and its editor. Values: workspace, ids. */
export const findEnabledFlows = sql(
  'find_present_flows',
  `select flow.id, flow.name, flow.version, made.editor_id from flows as flow
   join flow_versions as made on made.workspace_id = flow.workspace_id and made.flow_id = flow.id and made.version = flow.version
   where flow.workspace_id = $1 and flow.id = any($2::uuid[]) and flow.enabled order by flow.id`,
)

/** Counts a draft; returns no row when the day's maximum is reached. Values: workspace, day, maximum. */
export const incrementDraftCount = sql(
  'draft_flow',
  `insert into flow_drafts as counted (workspace_id, day, drafts) values ($1, $2, 1)
   on conflict (workspace_id, day) do update set drafts = counted.drafts + 1 where counted.drafts < $3 returning drafts`,
)
