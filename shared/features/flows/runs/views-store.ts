import type {
  FlowOverview,
  FlowRunStatus,
  FlowRunSummary,
  FlowStepView,
  RunError,
  TriggerVisibility,
} from '#shared/features/flows/runs/schemas.ts'
import {
  bigint,
  boolean,
  instant,
  integer,
  json,
  jsonb,
  type RowOf,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const status = text.as<FlowRunStatus>()
const error = json.as<RunError>()

const columns = {
  id: uuid.notNull,
  flow_id: uuid.notNull,
  flow_name: text.notNull,
  version: integer.notNull,
  status: status.notNull,
  error,
  trigger: json.as<FlowRunSummary['trigger']>().notNull,
  trigger_visibility: json.as<TriggerVisibility>(),
  has_input: boolean.notNull,
  /** Keys of the record that started it; empty where none did. */
  record_keys: texts.notNull,
  retry_of: uuid,
  created_at: instant.notNull,
  started_at: instant,
  finished_at: instant,
}
const list = `run.id, run.flow_id, coalesce(flow.name, run.flow_name) as flow_name, run.version, run.status, run.error, run.trigger, run.trigger_visibility,
  run.input ->> 'input' is not null as has_input, array(select json_object_keys(run.input -> 'record')) as record_keys, run.retry_of,
  run.created_at, run.started_at, run.finished_at`
const from = `flow_runs as run left join flows as flow on flow.workspace_id = run.workspace_id and flow.id = run.flow_id`

/** A run as views read it. */
export type FlowRunViewRow = RowOf<typeof columns>

/** The newest runs of a flow. */
export const findRunsOfFlow = statement(
  'flows.findRunsOfFlow',
  `select ${list} from ${from}
   where run.workspace_id = $workspaceId and run.flow_id = $flowId order by run.id desc limit $limit`,
  { params: { workspaceId: uuid, flowId: uuid, limit: bigint }, columns },
)

/** A run of a flow. */
export const findRun = statement(
  'flows.findRun',
  `select ${list} from ${from} where run.workspace_id = $workspaceId and run.flow_id = $flowId and run.id = $id`,
  { params: { workspaceId: uuid, flowId: uuid, id: uuid }, columns },
)

/** Returns the id of a flow, which may be deleted, if runs of it are stored. */
export const findFlowOfRuns = statement(
  'flows.findFlowOfRuns',
  'select flow_id from flow_runs where workspace_id = $workspaceId and flow_id = $flowId limit 1',
  { params: { workspaceId: uuid, flowId: uuid }, columns: { flow_id: uuid.notNull } },
)

/** Bytes of outputs that the view of one run holds at most. */
const shownOutputBytes = 8_000_000

const stepColumns = {
  node_id: text.notNull,
  iteration: text.notNull,
  node_type: text.notNull,
  status: text.as<FlowStepView['status']>().notNull,
  output: json,
  is_cut: boolean.notNull,
  type_revision: bigint,
  error,
  started_at: instant.notNull,
  duration_ms: integer.notNull,
}

/** A step of a run as views read it. */
export type FlowStepViewRow = RowOf<typeof stepColumns>

/** The steps of a run in their order. Once the outputs exceed `shownOutputBytes` together, further outputs are empty and marked as cut. */
export const findSteps = statement(
  'flows.findSteps',
  `select node_id, iteration, node_type, status, case when is_shown then output else '""'::json end as output, is_cut or not is_shown as is_cut,
     type_revision, error, started_at, duration_ms
   from (
     select step.*, coalesce(sum(octet_length(output::text)) over (order by place, node_id, iteration), 0) <= ${shownOutputBytes} as is_shown
     from flow_steps as step where workspace_id = $workspaceId and run_id = $runId
   ) as step
   order by place, node_id, iteration`,
  { params: { workspaceId: uuid, runId: uuid }, columns: stepColumns },
)

/** A page of the runs of all flows after the run `beforeId`, newest first; null turns off a filter. */
export const findRuns = statement(
  'flows.findRuns',
  `select ${list} from ${from}
   where run.workspace_id = $workspaceId and run.id < $beforeId
     and ($status::text is null or run.status = $status) and ($flowId::uuid is null or run.flow_id = $flowId)
     and ($createdFrom::timestamptz is null or run.created_at >= $createdFrom)
   order by run.id desc limit $limit`,
  {
    params: {
      workspaceId: uuid,
      beforeId: uuid,
      status: status.orNull,
      flowId: uuid.orNull,
      createdFrom: instant.orNull,
      limit: bigint,
    },
    columns,
  },
)

const since = (interval: string) => `created_at >= $now::timestamptz - interval '${interval}'`
const ended = (interval: string) => `jsonb_build_object(
  'ok', count(*) filter (where status = 'ok' and ${since(interval)}), 'failed', count(*) filter (where status = 'failed' and ${since(interval)})
)`

const endedCounts = jsonb.as<{ readonly ok: number; readonly failed: number }>()

/**
 * Numbers of runs of flows: ok and failed ones of the last 24 hours, of the last 7 days and of each of the last 14 days, and the flows with
 * the most failures and with the most runs of the last 7 days.
 */
export const findTotals = statement(
  'flows.findTotals',
  `with run as materialized (
     select flow_id, flow_name, status, created_at from flow_runs
     where workspace_id = $workspaceId and created_at >= date_trunc('day', $now::timestamptz) - interval '13 days'
       and flow_id = any($flowIds::uuid[])
   ),
   by_flow as (
     select flow_id, max(flow_name) as flow_name, count(*)::integer as runs, (count(*) filter (where status = 'failed'))::integer as failed
     from run where ${since('7 days')} group by flow_id
   )
   select ${ended('24 hours')} as runs_24h, ${ended('7 days')} as runs_7d,
     (select coalesce(jsonb_agg(day order by day ->> 'date'), '[]') from (
       select jsonb_build_object('date', to_char(day, 'YYYY-MM-DD'), 'ok', count(*) filter (where run.status = 'ok'),
         'failed', count(*) filter (where run.status = 'failed')) as day
       from generate_series(date_trunc('day', $now::timestamptz) - interval '13 days', date_trunc('day', $now::timestamptz), '1 day') as day
       left join run on run.created_at >= day and run.created_at < day + interval '1 day'
       group by day
     ) as days) as daily,
     (select coalesce(jsonb_agg(jsonb_build_object('flow_id', flow_id, 'flow_name', flow_name, 'failed', failed) order by failed desc, flow_id), '[]')
      from (select * from by_flow where failed > 0 order by failed desc, flow_id limit 10) as failing) as failing,
     (select coalesce(jsonb_agg(jsonb_build_object('flow_id', flow_id, 'flow_name', flow_name, 'runs', runs) order by runs desc, flow_id), '[]')
      from (select * from by_flow order by runs desc, flow_id limit 10) as busiest) as busiest
   from run`,
  {
    params: { workspaceId: uuid, now: instant, flowIds: uuids },
    columns: {
      runs_24h: endedCounts.notNull,
      runs_7d: endedCounts.notNull,
      daily: jsonb.as<FlowOverview['daily']>().notNull,
      failing: jsonb.as<FlowOverview['failing']>().notNull,
      busiest: jsonb.as<FlowOverview['busiest']>().notNull,
    },
  },
)

/** Numbers of events of flows that made no run, of the last 24 hours and the last 7 days. */
export const findSkippedTotals = statement(
  'flows.findSkippedTotals',
  `select coalesce(sum(skipped) filter (where hour > $now::timestamptz - interval '24 hours'), 0)::integer as skipped_24h,
     coalesce(sum(skipped), 0)::integer as skipped_7d
   from flow_skips
   where workspace_id = $workspaceId and hour > $now::timestamptz - interval '7 days' and flow_id = any($flowIds::uuid[])`,
  {
    params: { workspaceId: uuid, now: instant, flowIds: uuids },
    columns: { skipped_24h: integer.notNull, skipped_7d: integer.notNull },
  },
)

/** Numbers of open runs of all workspaces by state: `queued`, `running`, or the kind of wait; counts 100,000 runs at most. */
export const countOpenRunsByState = statement(
  'flows.countOpenRunsByState',
  `select coalesce(waiting ->> 'kind', status) as state, count(*)::integer as count
   from (select status, waiting from flow_runs where finished_at is null limit 100000) as open group by 1`,
  { params: {}, columns: { state: text.notNull, count: integer.notNull } },
)
