import { sql } from '#shared/platform/db/statements/statement.ts'

/** SQL for rows that a caller sends as a JSON list in $2, with these columns. */
const rowsOf = (columns: string) => `json_to_recordset($2::json) as given (${columns})`

/**
 * Inserts runs and returns the ids of the inserted ones; a run of the same flow with the same deduplication key (`trigger_key`) is not
 * inserted again. Values: workspace, the runs as a JSON list, now.
 */
export const insertRuns = sql(
  'insert_flow_runs',
  `insert into flow_runs
     (workspace_id, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, guard, trigger_key, depth, state, job_id,
      request_id, error, created_at, touched_at, started_at, finished_at)
   select $1::uuid, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, guard, trigger_key, depth, state, job_id, request_id,
     error,
     $3::timestamptz, $3::timestamptz, case when status = 'failed' then $3::timestamptz end, case when status = 'failed' then $3::timestamptz end
   from ${rowsOf(`id uuid, flow_id uuid, flow_name text, version integer, editor_id uuid, is_personal boolean, status text, trigger json, input json, guard json,
     trigger_key text, depth integer, state json, job_id uuid, request_id text, error json`)}
   on conflict do nothing
   returning id`,
)

/** A run with all that its execution needs. Values: workspace, id. */
export const findRunToExecute = sql(
  'find_flow_run_to_play',
  `select id, flow_id as "flowId", version, editor_id as "editorId", is_personal as "isPersonal", status, input, depth, turn, steps, state, waiting, created_at as "createdAt"
   from flow_runs where workspace_id = $1 and id = $2`,
)

/** Instant at which the first step of a turn began; it may be the step at which the run is parked, which has no row yet. */
const begun = `least($9, ($10::json -> 0 ->> 'started_at')::timestamptz, ($6::json ->> 'started_at')::timestamptz)`

/** Properties of a turn that decide which statement writes it. */
interface Shape {
  /** Whether the turn ends the run as ok; then the whole outputs of its steps are deleted, since they are not needed any more. */
  readonly isOk: boolean
  /** Whether a step of the turn has a whole output to keep, because the output shown in views is cut or redacted. */
  readonly keeps: boolean
}

const checkpointText = ({ isOk, keeps }: Shape): string => `with turned as (
     update flow_runs
     set turn = turn + 1, status = $4, state = $5::json, waiting = $6::json, job_id = $7, error = $8::json, touched_at = $9,
       started_at = coalesce(started_at, ${begun}), finished_at = case when $4 in ('ok', 'failed') then $9 end,
       steps = steps + json_array_length($10::json), revived = 0
     where workspace_id = $1 and id = $2 and turn = $3 and status in ('queued', 'running')
     returning workspace_id, id
   ),
   stepped as (
     insert into flow_steps
       (workspace_id, run_id, node_id, iteration, place, node_type, status, output, is_cut, input_hash, error, started_at, duration_ms)
     select workspace_id, id, step.node_id, step.iteration, step.place, step.node_type, step.status, step.output, step.is_cut,
       step.input_hash, step.error, step.started_at, step.duration_ms
     from turned cross join json_to_recordset($10::json) as step (node_id text, iteration text, place integer, node_type text, status text,
       output json, is_cut boolean, input_hash text, error json, started_at timestamptz, duration_ms integer)
   )${keeps && !isOk ? `, kept as (${keptText})` : ''}${isOk ? `, forgotten as (${forgottenText})` : ''}
   select case when exists (select from turned) then true else refuse_turn() end as turned`

const keptText = `insert into flow_outputs (workspace_id, run_id, node_id, iteration, output, created_at)
   select workspace_id, id, step.node_id, step.iteration, step.whole, $9
   from turned cross join json_to_recordset($10::json) as step (node_id text, iteration text, whole json) where step.whole is not null`

const forgottenText = `delete from flow_outputs as output using turned
   where output.workspace_id = turned.workspace_id and output.run_id = turned.id`

const [onward, keeping, ending] = [
  sql('write_flow_turn', checkpointText({ isOk: false, keeps: false })),
  sql('write_flow_turn_keeping', checkpointText({ isOk: false, keeps: true })),
  sql('write_flow_turn_ok', checkpointText({ isOk: true, keeps: false })),
]

/**
 * The statement that writes one turn of a run: its finished steps and the state after them. It fails (`isRunSuperseded`) when another job
 * has written a turn since, or the run has ended; the failure rolls back the whole transaction. Values: workspace, run, number of turns
 * written before, status, state, what the run waits for, id of the job that continues the run, error, now, the steps as a JSON list.
 */
export const checkpointStatementFor = ({ isOk, keeps }: Shape): ReturnType<typeof sql> => (isOk ? ending : keeps ? keeping : onward)

/** Whether a turn could not be written because another job has written one, or because the run has ended. */
export const isRunSuperseded = (error: unknown): boolean => (error as { code?: string } | null)?.code === 'KT001'

/** Ends a run as failed, unless another job has continued it. Values: workspace, run, its turn, the error as JSON, now. */
export const giveUpRun = sql(
  'give_up_flow_run',
  `update flow_runs
   set status = 'failed', error = $4::json, turn = turn + 1, waiting = null, started_at = coalesce(started_at, $5), finished_at = $5, touched_at = $5
   where workspace_id = $1 and id = $2 and turn = $3 and finished_at is null`,
)

/** The whole outputs of some steps. Values: workspace, run, block ids, and in the same order the steps' iterations. */
export const findOutputs = sql(
  'find_flow_outputs',
  `select step.node_id, coalesce(whole.output, step.output) as output
   from unnest($3::text[], $4::text[]) as asked (node_id, iteration)
   join flow_steps as step
     on step.workspace_id = $1 and step.run_id = $2 and step.node_id = asked.node_id and step.iteration = asked.iteration and step.status = 'ok'
   left join flow_outputs as whole
     on whole.workspace_id = $1 and whole.run_id = $2 and whole.node_id = asked.node_id and whole.iteration = asked.iteration`,
)

/** Ends all open runs of a flow as failed. Values: workspace, flow, the error as JSON, now. */
export const failOpenRuns = sql(
  'end_flow_runs',
  `update flow_runs set status = 'failed', error = $3::json, turn = turn + 1, waiting = null, finished_at = $4, touched_at = $4
   where workspace_id = $1 and flow_id = $2 and finished_at is null`,
)

/** Cancels a run; returns no row when the run has ended. Values: workspace, run, now. */
export const cancelOpenRun = sql(
  'cancel_flow_run',
  `update flow_runs set status = 'cancelled', turn = turn + 1, waiting = null, finished_at = $3, touched_at = $3
   where workspace_id = $1 and id = $2 and finished_at is null returning id`,
)

/**
 * Inserts a run that continues a failed or cancelled one, with copies of its finished steps and their outputs. Returns no row when the old
 * run is not failed or cancelled, or ended too long ago. Values: workspace, the old run, the new run's id and job, now, instant after which
 * the old run must have ended, request, caller's person id or null. The new run may use personal data only if the old one might and the
 * caller is its editor.
 */
export const insertRetry = sql(
  'insert_flow_retry',
  `with retried as (
     insert into flow_runs
       (workspace_id, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, guard, trigger_key, depth, retry_of, steps,
        state, job_id, request_id, created_at, touched_at)
     select workspace_id, $3::uuid, flow_id, flow_name, version, editor_id, is_personal and editor_id is not distinct from $8, 'queued',
       trigger, input, guard, trigger_key, depth, id,
       (select count(*) from flow_steps as step where step.workspace_id = $1 and step.run_id = $2 and step.status = 'ok'),
       state, $4::uuid, $7, $5::timestamptz, $5::timestamptz
     from flow_runs where workspace_id = $1 and id = $2 and status in ('failed', 'cancelled') and finished_at > $6
     returning id
   ),
   steps as (
     insert into flow_steps
       (workspace_id, run_id, node_id, iteration, place, node_type, status, output, is_cut, input_hash, error, started_at, duration_ms)
     select step.workspace_id, retried.id, node_id, iteration, place, node_type, status, output, is_cut, input_hash, error, started_at, duration_ms
     from retried cross join flow_steps as step where step.workspace_id = $1 and step.run_id = $2 and step.status = 'ok'
   ),
   outputs as (
     insert into flow_outputs (workspace_id, run_id, node_id, iteration, output, created_at)
     select output.workspace_id, retried.id, node_id, iteration, output, $5::timestamptz
     from retried cross join flow_outputs as output where output.workspace_id = $1 and output.run_id = $2
   )
   select id from retried`,
)

/** Adds to the counts of events that made no run. Values: workspace, flow ids, and in the same order the numbers to add, the hour. */
export const addSkippedEvents = sql(
  'count_flow_skips',
  `insert into flow_skips as counted (workspace_id, flow_id, hour, share, skipped)
   select $1, flow_id, $4, pg_backend_pid() % 16, skipped from unnest($2::uuid[], $3::integer[]) as given (flow_id, skipped)
   on conflict (workspace_id, hour, flow_id, share) do update set skipped = counted.skipped + excluded.skipped`,
)

/**
 * Open runs, of active workspaces, that nothing will continue: they were not updated since $1, what they wait for has passed, and they have
 * neither a job nor a due task. Values: the instant, maximum number.
 */
export const findLostRuns = sql(
  'find_lost_flow_runs',
  `select run.workspace_id as "workspaceId", run.id as "runId", run.turn, run.revived, run.waiting ->> 'kind' as waits
   from flow_runs as run
   join workspaces as workspace on workspace.id = run.workspace_id and workspace.status = 'active'
   where run.finished_at is null and run.touched_at < $1
     and case run.waiting ->> 'kind'
       when 'time' then (run.waiting ->> 'until')::timestamptz < $1
       when 'function' then not exists (
         select from operations where operations.id = (run.waiting ->> 'operation')::uuid
           and (operations.finished_at is null or operations.finished_at >= $1)
       )
       else true
     end
     and not exists (
       select from pgboss.job
       where job.name in ('flows.continue', 'flows.call') and job.id = run.job_id and job.state in ('created', 'retry', 'active')
     )
     and not exists (select from resting_jobs as resting where resting.workspace_id = run.workspace_id and resting.id = run.job_id)
     and not exists (
       select from due_work where due_work.workspace_id = run.workspace_id and due_work.kind = 'flows.wait' and due_work.subject = run.id::text
     )
   order by run.touched_at, run.id limit $2`,
)

/**
 * Records that a lost run has a new job; returns no row when the run was continued meanwhile. Values: workspace, run, its turn, the job,
 * now.
 */
export const reviveRun = sql(
  'revive_flow_run',
  `update flow_runs set job_id = $4, revived = revived + 1, touched_at = $5
   where workspace_id = $1 and id = $2 and turn = $3 and finished_at is null returning id`,
)

/** The newest ended runs of a flow that were no retries, with their triggers. Values: workspace, flow, maximum number. */
export const findRunsToRehearse = sql(
  'find_rehearsed_flow_runs',
  `select id, input, trigger ->> 'object_type' as "objectType", is_personal as "isPersonal", trigger, guard from flow_runs
   where workspace_id = $1 and flow_id = $2 and finished_at is not null and retry_of is null order by id desc limit $3`,
)

/**
 * The whole output of a run's step that had the same input. Values: workspace, run, block, iteration, digest of the input (`inputHash`).
 */
export const findRecordedOutput = sql(
  'find_recorded_flow_step',
  `select coalesce(whole.output, step.output) as output
   from flow_steps as step
   left join flow_outputs as whole using (workspace_id, run_id, node_id, iteration)
   where step.workspace_id = $1 and step.run_id = $2 and step.node_id = $3 and step.iteration = $4 and step.input_hash = $5
     and step.status = 'ok' and (not step.is_cut or whole.run_id is not null)`,
)

/** A position in the audit, as an id: entries written afterwards have higher ids. */
export const selectAuditPosition = sql('mark_audit', 'select uuidv7() as id')

/** The audit entries that one request wrote after a position. Values: workspace, position, request. */
export const findAuditEntriesSince = sql(
  'find_written_in_rehearsal',
  `select action, object_type, record_id, before, after from audit_entries
   where workspace_id = $1 and id > $2 and request_id = $3 order by id`,
)

/** Limits the time to wait for a lock, and the time of a statement, until the transaction ends. Values: both in milliseconds. */
export const limitTransactionTime = sql(
  'bound_rehearsal',
  `select set_config('lock_timeout', $1::text, true), set_config('statement_timeout', $2::text, true)`,
)
