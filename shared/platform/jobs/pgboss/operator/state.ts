/**
 * SQL of the state of an operation as operators see it, for statements that join what `stateJoins` joins. The queue tells whether an open job
 * waits, is held or runs: between two attempts its operation is still running.
 */
export const operationState = `case
  when operation.status = 'done' then 'done'
  when operation.status = 'failed' then case when operation.is_cancelled then 'cancelled' else 'failed' end
  when operation.awaits is not null then 'running'
  when job.state = 'active' then 'running'
  when job.state is not null then case when job.start_after > now() then 'held' else 'waiting' end
  when deferred.id is not null then 'held'
  when gated.id is not null then 'waiting'
  else case operation.status when 'queued' then 'waiting' else 'running' end end`

/** SQL of the id of an operation's present job. */
export const presentJob = 'coalesce(operation.job_id, operation.id)'

/** SQL that joins an open operation with its job, or with its place at a gate or among the deferred jobs. */
export const stateJoins = `
  left join lateral (
    select job.state, job.start_after, job.data from pgboss.job as job
    where operation.finished_at is null and job.name = operation.job and job.id = ${presentJob} and job.state <= 'active'
  ) as job on true
  left join lateral (
    select deferred.id, deferred.envelope from deferred_jobs as deferred
    where operation.finished_at is null and deferred.workspace_id = operation.workspace_id and deferred.id = ${presentJob}
  ) as deferred on true
  left join lateral (
    select gated.id, gated.gate, gated.slots, gated.envelope from gated_jobs as gated
    where operation.finished_at is null and gated.id = operation.id and gated.slot is null
  ) as gated on true`

/** SQL of the job that a dead letter stands for: its operation's id, where it has one (index `job_letters`). */
export const letterKey = `coalesce((letter.data ->> 'operationId')::uuid, letter.source_id)`

/** SQL of the message of a failure: what the last attempt met, which for INTERNAL says more than its caller was told. */
export const failureMessage = `coalesce(operation.attempts -> -1 ->> 'error', operation.error ->> 'message')`
