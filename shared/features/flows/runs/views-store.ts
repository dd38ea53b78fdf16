import { sql } from '#shared/platform/db/statements/statement.ts'

const listed = `run.id, run.flow_id, coalesce(flow.name, run.flow_name) as flow_name, run.version, run.status, run.error, run.trigger, run.guard,
  run.input ->> 'input' is not null as has_input, run.retry_of,
  run.created_at, run.started_at, run.finished_at`
const from = `flow_runs as run left join flows as flow on flow.workspace_id = run.workspace_id and flow.id = run.flow_id`

/** The newest runs of a flow. Values: workspace, flow, maximum number. */
export const findRunsOfFlow = sql(
  'find_runs_of_flow',
  `select ${listed} from ${from} where run.workspace_id = $1 and run.flow_id = $2 order by run.id desc limit $3`,
)

/** A run of a flow. Values: workspace, flow, run. */
export const findRun = sql(
  'find_flow_run',
  `select ${listed} from ${from} where run.workspace_id = $1 and run.flow_id = $2 and run.id = $3`,
)

/** Returns the id of a flow, which may be deleted, if runs of it are stored. Values: workspace, flow. */
export const findFlowOfRuns = sql('find_flow_of_runs', 'select flow_id from flow_runs where workspace_id = $1 and flow_id = $2 limit 1')

/** Bytes of outputs that the view of one run holds at most. */
const shownOutputBytes = 8_000_000

/**
 * The steps of a run in their order. Once the outputs exceed `shownOutputBytes` together, further outputs are empty and marked as cut.
 * Values: workspace, run.
 */
export const findSteps = sql(
  'find_flow_steps',
  `select node_id, iteration, node_type, status, case when is_shown then output else '""'::json end as output, is_cut or not is_shown as is_cut,
     error, started_at, duration_ms
   from (
     select step.*, coalesce(sum(octet_length(output::text)) over (order by place, node_id, iteration), 0) <= ${shownOutputBytes} as is_shown
     from flow_steps as step where workspace_id = $1 and run_id = $2
   ) as step
   order by place, node_id, iteration`,
)

/**
 * Runs of all flows, newest first. Values: workspace, run after which the page begins, status or null, flow or null, earliest instant of
 * creation or null, maximum number.
 */
export const findRuns = sql(
  'find_flow_runs',
  `select ${listed} from ${from}
   where run.workspace_id = $1 and run.id < $2 and ($3::text is null or run.status = $3) and ($4::uuid is null or run.flow_id = $4)
     and ($5::timestamptz is null or run.created_at >= $5)
   order by run.id desc limit $6`,
)

const since = (interval: string) => `created_at >= $2::timestamptz - interval '${interval}'`
const ended = (interval: string) => `jsonb_build_object(
  'ok', count(*) filter (where status = 'ok' and ${since(interval)}), 'failed', count(*) filter (where status = 'failed' and ${since(interval)})
)`

/**
 * Numbers of runs of these flows: ok and failed ones of the last 24 hours, of the last 7 days and of each of the last 14 days, and the
 * flows with the most failures and with the most runs of the last 7 days. Values: workspace, now, flows.
 */
export const findTotals = sql(
  'find_flow_totals',
  `with run as materialized (
     select flow_id, flow_name, status, created_at from flow_runs
     where workspace_id = $1 and created_at >= date_trunc('day', $2::timestamptz) - interval '13 days' and flow_id = any($3::uuid[])
   ),
   by_flow as (
     select flow_id, max(flow_name) as flow_name, count(*)::integer as runs, (count(*) filter (where status = 'failed'))::integer as failed
     from run where ${since('7 days')} group by flow_id
   )
   select ${ended('24 hours')} as runs_24h, ${ended('7 days')} as runs_7d,
     (select coalesce(jsonb_agg(day order by day ->> 'date'), '[]') from (
       select jsonb_build_object('date', to_char(day, 'YYYY-MM-DD'), 'ok', count(*) filter (where run.status = 'ok'),
         'failed', count(*) filter (where run.status = 'failed')) as day
       from generate_series(date_trunc('day', $2::timestamptz) - interval '13 days', date_trunc('day', $2::timestamptz), '1 day') as day
       left join run on run.created_at >= day and run.created_at < day + interval '1 day'
       group by day
     ) as days) as daily,
     (select coalesce(jsonb_agg(jsonb_build_object('flow_id', flow_id, 'flow_name', flow_name, 'failed', failed) order by failed desc, flow_id), '[]')
      from (select * from by_flow where failed > 0 order by failed desc, flow_id limit 10) as failing) as failing,
     (select coalesce(jsonb_agg(jsonb_build_object('flow_id', flow_id, 'flow_name', flow_name, 'runs', runs) order by runs desc, flow_id), '[]')
      from (select * from by_flow order by runs desc, flow_id limit 10) as busiest) as busiest
   from run`,
)

/** Numbers of events that made no run, of the last 24 hours and the last 7 days. Values: workspace, now, flows. */
export const findSkippedTotals = sql(
  'find_flow_skips',
  `select coalesce(sum(skipped) filter (where hour > $2::timestamptz - interval '24 hours'), 0)::integer as skipped_24h,
     coalesce(sum(skipped), 0)::integer as skipped_7d
   from flow_skips where workspace_id = $1 and hour > $2::timestamptz - interval '7 days' and flow_id = any($3::uuid[])`,
)

/** Numbers of open runs of all workspaces by status or kind of wait; counts 100,000 runs at most. */
export const countOpenRunsByState = sql(
  'count_open_flow_runs',
  `select coalesce(waiting ->> 'kind', status) as state, count(*)::integer as count
   from (select status, waiting from flow_runs where finished_at is null limit 100000) as open group by 1`,
)
