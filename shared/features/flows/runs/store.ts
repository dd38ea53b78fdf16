import type { RunState } from '#shared/features/flows/execution/run-state.ts'
import type {
  FlowRunStatus,
  FlowRunSummary,
  ParkedWait,
  RunError,
  TriggerInput,
  TriggerVisibility,
} from '#shared/features/flows/runs/schemas.ts'
import {
  bigint,
  boolean,
  instant,
  integer,
  integers,
  json,
  jsonb,
  type RowOf,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { maxFiledJobs } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { isJobOpen } from '#shared/platform/jobs/pgboss/conditions.ts'

const status = text.as<FlowRunStatus>()
const input = json.as<TriggerInput>()
const runError = json.as<RunError>()
const state = json.as<RunState>()
const waiting = json.as<ParkedWait>()

/** Whether fewer filed runs of the workspace wait than may. */
const mayFileRun = `(
     select count(*) from (
       select from flow_runs where workspace_id = $workspaceId::uuid and is_filed and status = 'queued' limit ${maxFiledJobs}
     ) as waiting
   ) < ${maxFiledJobs}`

/**
 * Inserts runs, which are given as a JSON list, and returns the ids of the inserted ones; a run of the same flow with the same
 * deduplication key (`trigger_key`) is not inserted again, nor is one that a caller files while too many of those wait.
 */
export const insertRuns = statement(
  'flows.insertRuns',
  `insert into flow_runs (
     workspace_id, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, trigger_visibility,
     trigger_key, depth, state, job_id, request_id, error, is_filed,
     created_at, touched_at, started_at, finished_at
   )
   select
     $workspaceId::uuid, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, trigger_visibility,
     trigger_key, depth, state, job_id, request_id, error, is_filed,
     $now::timestamptz, $now::timestamptz,
     case when status = 'failed' then $now::timestamptz end, case when status = 'failed' then $now::timestamptz end
   from json_to_recordset($runs::json) as given (
     id uuid, flow_id uuid, flow_name text, version integer, editor_id uuid, is_personal boolean, status text, trigger json, input json,
     trigger_visibility json, trigger_key text, depth integer, state json, job_id uuid, request_id text, error json,
     is_filed boolean
   )
   where not is_filed or ${mayFileRun}
   on conflict do nothing
   returning id`,
  { params: { workspaceId: uuid, runs: json, now: instant }, columns: { id: uuid.notNull } },
)

const executionColumns = {
  id: uuid.notNull,
  flowId: uuid.notNull,
  version: integer.notNull,
  editorId: uuid.notNull,
  /** Whether the run may use the editor's personal data. */
  isPersonal: boolean.notNull,
  status: status.notNull,
  input: input.notNull,
  depth: integer.notNull,
  revision: integer.notNull,
  steps: integer.notNull,
  state,
  waiting,
  createdAt: instant.notNull,
}

/** A run as its execution needs it. */
export type FlowRunRow = RowOf<typeof executionColumns>

/** A run with all that its execution needs. */
export const findRunToExecute = statement(
  'flows.findRunToExecute',
  `select id, flow_id as "flowId", version, editor_id as "editorId", is_personal as "isPersonal", status, input, depth, revision, steps, state,
     waiting, created_at as "createdAt"
   from flow_runs where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns: executionColumns },
)

/** Instant at which the first step of a revision began; it may be the step at which the run is parked, which has no row yet. */
const begun = `least($now, ($steps::json -> 0 ->> 'started_at')::timestamptz, ($waiting::json ->> 'started_at')::timestamptz)`

/** Properties of a revision that decide which statement writes it. */
interface Shape {
  /** Whether the revision ends the run as ok; then the whole outputs of its steps are deleted, since they are not needed any more. */
  readonly isOk: boolean
  /** Whether a step of the revision has a whole output to keep, because the output shown in views is cut or redacted. */
  readonly keeps: boolean
}

const checkpointText = ({ isOk, keeps }: Shape): string => `with turned as (
     update flow_runs
     set revision = revision + 1, status = $status, state = $state::json, waiting = $waiting::json, job_id = $jobId, error = $error::json,
       touched_at = $now, started_at = coalesce(started_at, ${begun}),
       finished_at = case when $status in ('ok', 'failed') then $now end,
       steps = steps + json_array_length($steps::json), revived = 0
     where workspace_id = $workspaceId and id = $id and revision = $revision and status in ('queued', 'running')
     returning workspace_id, id
   ),
   stepped as (
     insert into flow_steps
       (workspace_id, run_id, node_id, iteration, place, node_type, status, output, is_cut, type_revision, input_hash, error,
        started_at, duration_ms)
     select workspace_id, id, step.node_id, step.iteration, step.place, step.node_type, step.status, step.output, step.is_cut,
       step.type_revision, step.input_hash, step.error, step.started_at, step.duration_ms
     from turned cross join json_to_recordset($steps::json) as step (node_id text, iteration text, place integer, node_type text, status text,
       output json, is_cut boolean, type_revision bigint, input_hash text, error json, started_at timestamptz, duration_ms integer)
   )${keeps && !isOk ? `, kept as (${keptText})` : ''}${isOk ? `, forgotten as (${forgottenText})` : ''}
   select case when exists (select from turned) then true else refuse_superseded_run() end as turned`

const keptText = `insert into flow_outputs (workspace_id, run_id, node_id, iteration, output, created_at)
   select workspace_id, id, step.node_id, step.iteration, step.whole, $now
   from turned cross join json_to_recordset($steps::json) as step (node_id text, iteration text, whole json) where step.whole is not null`

const forgottenText = `delete from flow_outputs as output using turned
   where output.workspace_id = turned.workspace_id and output.run_id = turned.id`

const checkpoint = {
  params: {
    workspaceId: uuid,
    id: uuid,
    /** Number of turns written before. */
    revision: integer,
    status,
    state: state.orNull,
    waiting: waiting.orNull,
    /** The job that continues the run. */
    jobId: uuid.orNull,
    error: runError.orNull,
    now: instant,
    /** The finished steps as a JSON list. */
    steps: json,
  },
  columns: { turned: boolean.notNull },
} as const

const writeCheckpoint = statement('flows.writeCheckpoint', checkpointText({ isOk: false, keeps: false }), checkpoint)
const writeCheckpointWithOutputs = statement('flows.writeCheckpointWithOutputs', checkpointText({ isOk: false, keeps: true }), checkpoint)
const writeLastCheckpoint = statement('flows.writeLastCheckpoint', checkpointText({ isOk: true, keeps: false }), checkpoint)

/**
 * The statement that writes one revision of a run: its finished steps and the state after them. It fails (`isRunSuperseded`) when another job
 * has written a revision since, or the run has ended; the failure rolls back the whole transaction.
 */
export const checkpointStatementFor = ({ isOk, keeps }: Shape): typeof writeCheckpoint =>
  isOk ? writeLastCheckpoint : keeps ? writeCheckpointWithOutputs : writeCheckpoint

/** Whether a revision could not be written because another job has written one, or because the run has ended. */
export const isRunSuperseded = (error: unknown): boolean => (error as { code?: string } | null)?.code === 'KT001'

/** Ends a run as failed, unless another job has continued it. */
export const giveUpRun = statement(
  'flows.giveUpRun',
  `update flow_runs
   set status = 'failed', error = $error::json, revision = revision + 1, waiting = null,
     started_at = coalesce(started_at, $now), finished_at = $now, touched_at = $now
   where workspace_id = $workspaceId and id = $id and revision = $revision and finished_at is null`,
  { params: { workspaceId: uuid, id: uuid, revision: integer, error: runError, now: instant } },
)

/** The whole outputs of some steps of a run; `iterations` are in the order of `nodeIds`. */
export const findOutputs = statement(
  'flows.findOutputs',
  `select step.node_id, coalesce(whole.output, step.output) as output
   from unnest($nodeIds::text[], $iterations::text[]) as asked (node_id, iteration)
   join flow_steps as step
     on step.workspace_id = $workspaceId and step.run_id = $runId and step.node_id = asked.node_id and step.iteration = asked.iteration
       and step.status = 'ok'
   left join flow_outputs as whole
     on whole.workspace_id = $workspaceId and whole.run_id = $runId and whole.node_id = asked.node_id
       and whole.iteration = asked.iteration`,
  {
    params: { workspaceId: uuid, runId: uuid, nodeIds: texts, iterations: texts },
    columns: { node_id: text.notNull, output: json },
  },
)

/** Ends all open runs of a flow as failed. */
export const failOpenRuns = statement(
  'flows.failOpenRuns',
  `update flow_runs
   set status = 'failed', error = $error::json, revision = revision + 1, waiting = null, finished_at = $now, touched_at = $now
   where workspace_id = $workspaceId and flow_id = $flowId and finished_at is null`,
  { params: { workspaceId: uuid, flowId: uuid, error: runError, now: instant } },
)

/** Cancels a run; returns no row when the run has ended. */
export const cancelOpenRun = statement(
  'flows.cancelOpenRun',
  `update flow_runs set status = 'cancelled', revision = revision + 1, waiting = null, finished_at = $now, touched_at = $now
   where workspace_id = $workspaceId and id = $id and finished_at is null returning id`,
  { params: { workspaceId: uuid, id: uuid, now: instant }, columns: { id: uuid.notNull } },
)

/**
 * Inserts a run that continues a failed or cancelled one, with copies of its finished steps and their outputs. Returns no row when the old
 * run is not failed or cancelled, or ended before `endedAfter`, and no id when too many filed runs wait. The new run may use personal data
 * only if the old one might and the caller is its editor.
 */
export const insertRetry = statement(
  'flows.insertRetry',
  `with old as (
     select * from flow_runs
     where workspace_id = $workspaceId and id = $oldId and status in ('failed', 'cancelled') and finished_at > $endedAfter
   ),
   retried as (
     insert into flow_runs (
       workspace_id, id, flow_id, flow_name, version, editor_id, is_personal, status,
       trigger, input, trigger_visibility, trigger_key, depth, retry_of,
       steps, state, job_id, request_id, is_filed, created_at, touched_at
     )
     select
       workspace_id, $id::uuid, flow_id, flow_name, version, editor_id, is_personal and editor_id is not distinct from $personId, 'queued',
       trigger, input, trigger_visibility, trigger_key, depth, id,
       (select count(*) from flow_steps as step where step.workspace_id = $workspaceId and step.run_id = $oldId and step.status = 'ok'),
       state, $jobId::uuid, $requestId, true, $now::timestamptz, $now::timestamptz
     from old where ${mayFileRun}
     returning id
   ),
   steps as (
     insert into flow_steps
       (workspace_id, run_id, node_id, iteration, place, node_type, status, output, is_cut, type_revision, input_hash, error,
        started_at, duration_ms)
     select step.workspace_id, retried.id, node_id, iteration, place, node_type, status, output, is_cut, type_revision, input_hash, error,
       started_at, duration_ms
     from retried cross join flow_steps as step
     where step.workspace_id = $workspaceId and step.run_id = $oldId and step.status = 'ok'
   ),
   outputs as (
     insert into flow_outputs (workspace_id, run_id, node_id, iteration, output, created_at)
     select output.workspace_id, retried.id, node_id, iteration, output, $now::timestamptz
     from retried cross join flow_outputs as output where output.workspace_id = $workspaceId and output.run_id = $oldId
   )
   select (select id from retried) as id from old`,
  {
    params: {
      workspaceId: uuid,
      oldId: uuid,
      id: uuid,
      jobId: uuid,
      now: instant,
      endedAfter: instant,
      requestId: text,
      /** The person who retries; null for a caller that is no person. */
      personId: uuid.orNull,
    },
    columns: { id: uuid },
  },
)

/** Adds to the counts of events of an hour that made no run; `counts` are in the order of `flowIds`. */
export const addSkippedEvents = statement(
  'flows.addSkippedEvents',
  `insert into flow_skips as counted (workspace_id, flow_id, hour, share, skipped)
   select $workspaceId, flow_id, $hour, pg_backend_pid() % 16, skipped
   from unnest($flowIds::uuid[], $counts::integer[]) as given (flow_id, skipped)
   on conflict (workspace_id, hour, flow_id, share) do update set skipped = counted.skipped + excluded.skipped`,
  { params: { workspaceId: uuid, flowIds: uuids, counts: integers, hour: instant } },
)

/**
 * Open runs, of active workspaces, that nothing will continue: they were not updated since `before`, what they wait for has passed, and
 * they have neither a job nor a due task.
 */
export const findLostRuns = statement(
  'flows.findLostRuns',
  `select run.workspace_id as "workspaceId", run.id as "runId", run.revision, run.revived, run.waiting ->> 'kind' as waits
   from flow_runs as run
   join workspaces as workspace on workspace.id = run.workspace_id and workspace.status = 'active'
   where run.finished_at is null and run.touched_at < $before
     and case run.waiting ->> 'kind'
       when 'time' then (run.waiting ->> 'until')::timestamptz < $before
       when 'function' then not exists (
         select from operations where operations.id = (run.waiting ->> 'operation')::uuid
           and (operations.finished_at is null or operations.finished_at >= $before)
       )
       else true
     end
     and not ${isJobOpen("in ('flows.continue', 'flows.call')", 'run.job_id')}
     and not exists (select from deferred_jobs as deferred where deferred.workspace_id = run.workspace_id and deferred.id = run.job_id)
     and not exists (
       select from due_work where due_work.workspace_id = run.workspace_id and due_work.kind = 'flows.wait' and due_work.subject = run.id::text
     )
   order by run.touched_at, run.id limit $limit`,
  {
    params: { before: instant, limit: bigint },
    columns: { workspaceId: uuid.notNull, runId: uuid.notNull, revision: integer.notNull, revived: integer.notNull, waits: text },
  },
)

/** Records that a lost run has a new job; returns no row when the run was continued meanwhile. */
export const reviveRun = statement(
  'flows.reviveRun',
  `update flow_runs set job_id = $jobId, revived = revived + 1, touched_at = $now
   where workspace_id = $workspaceId and id = $id and revision = $revision and finished_at is null returning id`,
  { params: { workspaceId: uuid, id: uuid, revision: integer, jobId: uuid, now: instant }, columns: { id: uuid.notNull } },
)

const endedColumns = {
  id: uuid.notNull,
  input: input.notNull,
  objectType: text,
  isPersonal: boolean.notNull,
  trigger: json.as<FlowRunSummary['trigger']>().notNull,
  trigger_visibility: json.as<TriggerVisibility>(),
  createdAt: instant.notNull,
}

/** An ended run with its trigger. */
export type EndedRun = RowOf<typeof endedColumns>

/** The newest ended runs of a flow that were no retries. */
export const findRunsToRehearse = statement(
  'flows.findRunsToRehearse',
  `select id, input, trigger ->> 'object_type' as "objectType", is_personal as "isPersonal", trigger, trigger_visibility,
     created_at as "createdAt"
   from flow_runs
   where workspace_id = $workspaceId and flow_id = $flowId and finished_at is not null and retry_of is null order by id desc limit $limit`,
  { params: { workspaceId: uuid, flowId: uuid, limit: bigint }, columns: endedColumns },
)

/**
 * The whole output of a run's step that had the same input, which is compared by its digest (`inputHash`). Returns no row when only a cut or
 * redacted output is kept.
 */
export const findRecordedOutput = statement(
  'flows.findRecordedOutput',
  `select coalesce(whole.output, step.output) as output
   from flow_steps as step
   left join flow_outputs as whole using (workspace_id, run_id, node_id, iteration)
   where step.workspace_id = $workspaceId and step.run_id = $runId and step.node_id = $nodeId and step.iteration = $iteration
     and step.input_hash = $inputHash and step.status = 'ok' 
     and (whole.run_id is not null or not step.is_cut and position($redacted in step.output::text) = 0)`,
  {
    params: { workspaceId: uuid, runId: uuid, nodeId: text, iteration: text, inputHash: text.orNull, redacted: text },
    columns: { output: json },
  },
)

/** A position in the audit, as an id: entries written afterwards have higher ids. */
export const selectAuditPosition = statement('flows.selectAuditPosition', 'select uuidv7() as id', {
  params: {},
  columns: { id: uuid.notNull },
})

const recordValues = jsonb.as<Readonly<Record<string, unknown>>>()

const auditColumns = {
  action: text.notNull,
  object_type: text.notNull,
  record_id: uuid.notNull,
  before: recordValues,
  after: recordValues,
}

/** An entry of the audit. */
export type AuditEntry = RowOf<typeof auditColumns>

/** The audit entries that one request wrote after a position. */
export const findAuditEntriesSince = statement(
  'flows.findAuditEntriesSince',
  `select action, object_type, record_id, before, after from audit_entries
   where workspace_id = $workspaceId and id > $afterId and request_id = $requestId order by id`,
  { params: { workspaceId: uuid, afterId: uuid, requestId: text }, columns: auditColumns },
)

/** Limits the time to wait for a lock, and the time of a statement, until the transaction ends; both in milliseconds, as text. */
export const limitTransactionTime = statement(
  'flows.limitTransactionTime',
  `select set_config('lock_timeout', $lockMs::text, true) as lock_timeout, set_config('statement_timeout', $statementMs::text, true) as statement_timeout`,
  {
    params: { lockMs: text, statementMs: text },
    columns: { lock_timeout: text.notNull, statement_timeout: text.notNull },
  },
)
