import type { FlowDefinition, Positions } from '#shared/features/flows/definitions/definition.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import {
  boolean,
  date,
  instant,
  integer,
  integers,
  json,
  type RowOf,
  selectList,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  event_listeners_type: ['VALIDATION_ERROR', 'object_type must be the key of a record type'],
  flows_cap: ['VALIDATION_ERROR', `a workspace can have ${flowLimits.perWorkspace} flows; delete some first`],
  flow_runs_retry: ['VALIDATION_ERROR', 'The run was tried again already; go on with that run'],
})

/** Kind of the due tasks for schedules of flows. */
export const scheduleKind = 'flows.schedule'

const nodes = json.as<FlowDefinition['nodes']>()
const edges = json.as<FlowDefinition['edges']>()
const context = json.as<FlowDefinition['context']>()
const positions = json.as<Positions>()

const briefColumns = {
  id: uuid.notNull,
  name: text.notNull,
  description: text.notNull,
  enabled: boolean.notNull,
  version: integer.notNull,
  created_at: instant.notNull,
  updated_at: instant.notNull,
  context: context.notNull,
  editor_id: uuid.notNull,
  last_run_at: instant,
  next_run_at: instant,
}
const briefList = `flow.id, flow.name, flow.description, flow.enabled, flow.version, flow.created_at, flow.updated_at,
  made.context, made.editor_id, last.created_at as last_run_at, due.at as next_run_at`

const columns = { ...briefColumns, positions: positions.notNull, nodes: nodes.notNull, edges: edges.notNull }

/** A flow as it is stored, with its newest definition. */
export type FlowRow = RowOf<typeof columns>

const joins = `join flow_versions as made
    on made.workspace_id = flow.workspace_id and made.flow_id = flow.id and made.version = flow.version
  left join lateral (
    select created_at from flow_runs
    where flow_runs.workspace_id = flow.workspace_id and flow_runs.flow_id = flow.id order by id desc limit 1
  ) as last on true
  left join due_work as due
    on due.workspace_id = flow.workspace_id and due.kind = '${scheduleKind}' and due.subject = flow.id::text`

/** `node_bytes`: the size of the nodes as stored, compressed. */
const listedColumns = { ...briefColumns, node_bytes: integer.notNull }

/** A flow of a list, without blocks and edges. */
export type ListedFlowRow = RowOf<typeof listedColumns>

/** A page of a workspace's flows without blocks and edges, in the order of their creation. */
export const findFlows = creationPage(
  'flows.findFlows',
  `select ${briefList}, pg_column_size(made.nodes) as node_bytes from flows as flow ${joins} where flow.workspace_id = $workspaceId`,
  { params: { workspaceId: uuid }, columns: listedColumns },
)

/** The blocks of one version of each flow; `versions` are in the order of `flowIds`. */
export const findFlowNodes = statement(
  'flows.findFlowNodes',
  `select made.flow_id, made.nodes from unnest($flowIds::uuid[], $versions::integer[]) as wanted (flow_id, version)
   join flow_versions as made on made.workspace_id = $workspaceId and made.flow_id = wanted.flow_id and made.version = wanted.version
   order by made.flow_id`,
  {
    params: { workspaceId: uuid, flowIds: uuids, versions: integers },
    columns: { flow_id: uuid.notNull, nodes: nodes.notNull },
  },
)

/** One flow with blocks, edges and positions. */
export const findFlow = statement(
  'flows.findFlow',
  `select ${briefList}, flow.positions, made.nodes, made.edges from flows as flow ${joins}
   where flow.workspace_id = $workspaceId and flow.id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/**
 * The ids and keys that flows of a workspace may refer to; `fields` are the fields' keys by the record type's key, `stages`
 * the stages' keys by the queue's key.
 */
export const findSurroundings = statement(
  'flows.findSurroundings',
  `select
     (select coalesce(json_object_agg(type.key, array(
        select field.key from fields as field where field.workspace_id = $workspaceId and field.type_id = type.id order by field.key
      )), '{}') from record_types as type where type.workspace_id = $workspaceId) as fields,
     array(select id::text from functions where workspace_id = $workspaceId) as functions,
     array(select id::text from message_connections where workspace_id = $workspaceId) as connections,
     array(select id::text from message_templates where workspace_id = $workspaceId) as templates,
     (select coalesce(json_object_agg(template.id || ' ' || part.key, part.value), '{}')
      from message_templates as template cross join jsonb_each(template.flow_references) as part
      where template.workspace_id = $workspaceId) as template_references,
     array(select id::text from payment_connections where workspace_id = $workspaceId) as payment_connections,
     (select coalesce(json_object_agg(queue.key, array(
        select stage.key from queue_stages as stage
        where stage.workspace_id = $workspaceId and stage.queue_id = queue.id order by stage.key
      )), '{}') from queues as queue where queue.workspace_id = $workspaceId and queue.deleted_at is null) as stages,
     array(select key from calendars where workspace_id = $workspaceId and left_at is null) as calendars,
     array(select id::text from roles where workspace_id = $workspaceId) as roles`,
  {
    params: { workspaceId: uuid },
    columns: {
      fields: json.as<Readonly<Record<string, readonly string[]>>>().notNull,
      functions: texts.notNull,
      connections: texts.notNull,
      templates: texts.notNull,
      template_references: json.as<Readonly<Record<string, readonly string[]>>>().notNull,
      payment_connections: texts.notNull,
      stages: json.as<Readonly<Record<string, readonly string[]>>>().notNull,
      calendars: texts.notNull,
      roles: texts.notNull,
    },
  },
)

/** Inserts a flow with its first version. */
export const insertFlow = statement(
  'flows.insertFlow',
  `with made as (
     insert into flows (workspace_id, id, name, description, positions, created_at, updated_at)
     values ($workspaceId::uuid, $id::uuid, $name, $description, $positions::json, $now::timestamptz, $now::timestamptz) returning id
   )
   insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
   select $workspaceId, id, 1, $nodes::json, $edges::json, $context::json, $editorId::uuid, $now::timestamptz from made
   returning flow_id`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text,
      description: text,
      positions,
      nodes,
      edges,
      context,
      editorId: uuid,
      now: instant,
    },
    columns: { flow_id: uuid.notNull },
  },
)

/** Locks a flow's row until the transaction ends. */
export const lockFlow = statement(
  'flows.lockFlow',
  'select id, version from flows where workspace_id = $workspaceId and id = $id for update',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull, version: integer.notNull } },
)

/** Changes a flow; null leaves a column unchanged. */
export const updateFlow = statement(
  'flows.updateFlow',
  `update flows
   set name = coalesce($name, name), description = coalesce($description, description), enabled = coalesce($enabled, enabled),
     version = coalesce($version, version), positions = coalesce($positions::json, positions), updated_at = $now
   where workspace_id = $workspaceId and id = $id`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text.orNull,
      description: text.orNull,
      enabled: boolean.orNull,
      version: integer.orNull,
      positions: positions.orNull,
      now: instant,
    },
  },
)

/** Inserts a version of a flow. */
export const insertVersion = statement(
  'flows.insertVersion',
  `insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
   values ($workspaceId, $flowId, $version, $nodes::json, $edges::json, $context::json, $editorId, $createdAt)`,
  {
    params: { workspaceId: uuid, flowId: uuid, version: integer, nodes, edges, context, editorId: uuid, createdAt: instant },
  },
)

/** Deletes versions before `oldestKept`, except those of open, failed and cancelled runs. */
export const deleteOldFlowVersions = statement(
  'flows.deleteOldFlowVersions',
  `delete from flow_versions as old
   where workspace_id = $workspaceId and flow_id = $flowId and version < $oldestKept and not exists (
     select from flow_runs as run
     where run.workspace_id = old.workspace_id and run.flow_id = old.flow_id and run.version = old.version and run.status <> 'ok'
   )`,
  { params: { workspaceId: uuid, flowId: uuid, oldestKept: integer } },
)

/** Deletes a flow with its versions. */
export const deleteFlow = statement('flows.deleteFlow', 'delete from flows where workspace_id = $workspaceId and id = $id returning id', {
  params: { workspaceId: uuid, id: uuid },
  columns: { id: uuid.notNull },
})

const versionColumns = {
  version: integer.notNull,
  editor_id: uuid.notNull,
  created_at: instant.notNull,
  nodes: nodes.notNull,
  edges: edges.notNull,
  context: context.notNull,
}

/** A version of a flow as it is stored. */
export type FlowVersionRow = RowOf<typeof versionColumns>

/** The kept versions of a flow, newest first: a page of those before `beforeVersion`, or all without it and without `limit`. */
export const findVersions = statement(
  'flows.findVersions',
  `select ${selectList(versionColumns)} from flow_versions
   where workspace_id = $workspaceId and flow_id = $flowId and ($beforeVersion::integer is null or version < $beforeVersion::integer)
   order by version desc limit $limit::integer`,
  {
    params: { workspaceId: uuid, flowId: uuid, beforeVersion: integer.orNull, limit: integer.orNull },
    columns: versionColumns,
  },
)

/** One version of a flow. */
export const findVersion = statement(
  'flows.findVersion',
  `select ${selectList(versionColumns)} from flow_versions where workspace_id = $workspaceId and flow_id = $flowId and version = $version`,
  { params: { workspaceId: uuid, flowId: uuid, version: integer }, columns: versionColumns },
)

const enabledColumns = { id: uuid.notNull, name: text.notNull, version: integer.notNull, editor_id: uuid.notNull }

/** An enabled flow with its present version and the editor of that version. */
export type EnabledFlow = RowOf<typeof enabledColumns>

/** Those of the flows that are enabled. */
export const findEnabledFlows = statement(
  'flows.findEnabledFlows',
  `select flow.id, flow.name, flow.version, made.editor_id from flows as flow
   join flow_versions as made on made.workspace_id = flow.workspace_id and made.flow_id = flow.id and made.version = flow.version
   where flow.workspace_id = $workspaceId and flow.id = any($ids::uuid[]) and flow.enabled order by flow.id`,
  { params: { workspaceId: uuid, ids: uuids }, columns: enabledColumns },
)

/** Counts a draft; returns no row when the day has `maxDrafts` already. */
export const incrementDraftCount = statement(
  'flows.incrementDraftCount',
  `insert into flow_drafts as counted (workspace_id, day, drafts) values ($workspaceId, $day, 1)
   on conflict (workspace_id, day) do update set drafts = counted.drafts + 1 where counted.drafts < $maxDrafts returning drafts`,
  { params: { workspaceId: uuid, day: date, maxDrafts: integer }, columns: { drafts: integer.notNull } },
)
