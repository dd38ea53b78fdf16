import type { RunState } from '#shared/features/flows/execution/run-state.ts'
import { announceEnds, endColumns } from '#shared/features/flows/runs/end-store.ts'
import type { FlowRunStatus, ParkedWait, RunError, TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import { boolean, instant, integer, json, type RowOf, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const status = text.as<FlowRunStatus>()
const input = json.as<TriggerInput>()
const runError = json.as<RunError>()
const state = json.as<RunState>()
const waiting = json.as<ParkedWait>()

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
     returning ${endColumns}
   ),
   announced as (${announceEnds('turned', 'run')}),
   stepped as (
     insert into flow_steps
       (workspace_id, run_id, node_id, iteration, place, node_type, status, output, is_cut, type_revision, input_hash, error,
        started_at, duration_ms)
     select turned.workspace_id, turned.id, step.node_id, step.iteration, step.place, step.node_type, step.status, step.output, step.is_cut,
       step.type_revision, step.input_hash, step.error, step.started_at, step.duration_ms
     from turned cross join json_to_recordset($steps::json) as step (node_id text, iteration text, place integer, node_type text, status text,
       output json, is_cut boolean, type_revision bigint, input_hash text, error json, started_at timestamptz, duration_ms integer)
   )${keeps && !isOk ? `, kept as (${keptText})` : ''}${isOk ? `, forgotten as (${forgottenText})` : ''}
   select case when exists (select from turned) then true else refuse_superseded_run() end as turned`

const keptText = `insert into flow_outputs (workspace_id, run_id, node_id, iteration, output, created_at)
   select turned.workspace_id, turned.id, step.node_id, step.iteration, step.whole, $now
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
  `with ended as (
     update flow_runs
     set status = 'failed', error = $error::json, revision = revision + 1, waiting = null,
       started_at = coalesce(started_at, $now), finished_at = $now, touched_at = $now
     where workspace_id = $workspaceId and id = $id and revision = $revision and finished_at is null returning ${endColumns}
   )
   ${announceEnds('ended', 'platform')}`,
  { params: { workspaceId: uuid, id: uuid, revision: integer, error: runError, now: instant } },
)

/** Ends an open run as failed, since the job that continues it was cancelled. */
export const failCancelledRun = statement(
  'flows.failCancelledRun',
  `with ended as (
     update flow_runs
     set status = 'failed', error = $error::json, revision = revision + 1, waiting = null,
       started_at = coalesce(started_at, $now), finished_at = $now, touched_at = $now
     where workspace_id = $workspaceId and id = $id and finished_at is null returning ${endColumns}
   )
   ${announceEnds('ended', 'platform')}`,
  { params: { workspaceId: uuid, id: uuid, error: runError, now: instant } },
)

/** The whole outputs of some steps of a run; `iterations` are in the order of `nodeIds`. */
export const findOutputs = statement(
  'flows.findOutputs',
  `select step.node_id, coalesce(whole.output, step.output) as output
   from unnest($nodeIds::text[], $iterations::text[]) as wanted (node_id, iteration)
   join flow_steps as step
     on step.workspace_id = $workspaceId and step.run_id = $runId and step.node_id = wanted.node_id and step.iteration = wanted.iteration
       and step.status = 'ok'
   left join flow_outputs as whole
     on whole.workspace_id = $workspaceId and whole.run_id = $runId and whole.node_id = wanted.node_id
       and whole.iteration = wanted.iteration`,
  {
    params: { workspaceId: uuid, runId: uuid, nodeIds: texts, iterations: texts },
    columns: { node_id: text.notNull, output: json },
  },
)
