import { announceEnds, endColumns } from '#shared/features/flows/runs/end-store.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { bigint, instant, integer, integers, json, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { maxFiledJobs } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { isJobOpen } from '#shared/platform/jobs/pgboss/conditions.ts'

const runError = json.as<RunError>()

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
  `with made as (
   insert into flow_runs (
     workspace_id, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, trigger_visibility,
     trigger_key, depth, state, job_id, request_id, error, is_filed,
     created_at, touched_at, started_at, finished_at
   )
   select
     $workspaceId::uuid, id, flow_id, flow_name, version, editor_id, is_personal, status, trigger, input, trigger_visibility,
     trigger_key, depth, state, job_id, request_id, error, is_filed,
     $now::timestamptz, $now::timestamptz,
     case when status = 'failed' then $now::timestamptz end, case when status = 'failed' then $now::timestamptz end
   from json_to_recordset($runs::json) as new_run (
     id uuid, flow_id uuid, flow_name text, version integer, editor_id uuid, is_personal boolean, status text, trigger json, input json,
     trigger_visibility json, trigger_key text, depth integer, state json, job_id uuid, request_id text, error json,
     is_filed boolean
   )
   where not is_filed or ${mayFileRun}
   on conflict do nothing
   returning ${endColumns}
   ),
   announced as (${announceEnds('made', 'run')})
   select id from made`,
  { params: { workspaceId: uuid, runs: json, now: instant }, columns: { id: uuid.notNull } },
)

/** Ends all open runs of a flow as failed; `cause` is the caller's, as JSON. */
export const failOpenRuns = statement(
  'flows.failOpenRuns',
  `with ended as (
     update flow_runs
     set status = 'failed', error = $error::json, revision = revision + 1, waiting = null, finished_at = $now, touched_at = $now
     where workspace_id = $workspaceId and flow_id = $flowId and finished_at is null returning ${endColumns}
   )
   ${announceEnds('ended', 'caller')}`,
  { params: { workspaceId: uuid, flowId: uuid, error: runError, now: instant, cause: text } },
)

/** Cancels a run; returns no row when the run has ended. `cause` is the caller's, as JSON. */
export const cancelOpenRun = statement(
  'flows.cancelOpenRun',
  `with ended as (
     update flow_runs set status = 'cancelled', revision = revision + 1, waiting = null, finished_at = $now, touched_at = $now
     where workspace_id = $workspaceId and id = $id and finished_at is null returning ${endColumns}
   ),
   announced as (${announceEnds('ended', 'caller')})
   select id from ended`,
  { params: { workspaceId: uuid, id: uuid, now: instant, cause: text }, columns: { id: uuid.notNull } },
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
   from unnest($flowIds::uuid[], $counts::integer[]) as event_count (flow_id, skipped)
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

/** The flow of a run. */
export const findFlowOfRun = statement(
  'flows.findFlowOfRun',
  'select flow_id from flow_runs where workspace_id = $workspaceId and id = $id',
  { params: { workspaceId: uuid, id: uuid }, columns: { flow_id: uuid.notNull } },
)
