import type { Executor } from '#shared/platform/db/database.ts'
import { findJobsOfRequests } from '#shared/platform/jobs/pgboss/jobs-of-requests.ts'

/** One effect of a request. */
interface Step {
  /** When it was enqueued or written, or falls due, RFC 3339. */
  readonly at: string
  readonly what:
    | 'operation'
    | 'job'
    | 'dead letter'
    | 'function run'
    | 'flow run'
    | 'flow step'
    | 'audit entry'
    | 'event'
    | 'due task'
    | 'notification'
    | 'idempotency record'
  readonly name: string
  readonly state: string | null
  readonly id: string
  readonly detail: string | null
}

// Changes by a flow run carry the run's id as their request id, and the run that of its cause, so runs are followed like requests. Request
// ids have no index: traces are rare, and every write would pay for one. A notification has no request id; its id is computed by
// notification_id from the audit entry, the rule and the member, so it is found by computing the id again. A due task has none either and is
// found by its subject: a run, an operation or a record of the request. The work that it becomes has the task's id as its request id.
const requestsText = `
  with recursive ids as (
    select $1::text as id union select run.id::text from ids join flow_runs as run on run.request_id = ids.id
  )
  select id from ids`

const text = `
  with ids as (
    select unnest($1::text[]) as id
  ), flows as (
    select run.* from flow_runs as run where run.id::text in (select id from ids)
  ), entries as (
    select workspace_id, id, created_at, action, object_type, record_id from audit_entries where request_id in (select id from ids)
  ), started as (
    select id, created_at, kind, status, error ->> 'code' as code from operations where request_id in (select id from ids)
  )
  select created_at as at, 'operation' as what, kind as name, status as state, id::text, code as detail, 1 as place from started
  union all
  select uuid_extract_timestamp(id), 'job', queue, 'at the gate', id::text, gate, 3
  from gated_jobs where slot is null and envelope -> 'cause' ->> 'requestId' in (select id from ids)
  union all
  select uuid_extract_timestamp(event_id), 'event', coalesce(type, concat_ws(' ', source, event)), 'waits for its number', event_id::text, nullif(topic, ''), 3
  from event_inbox where cause ->> 'requestId' in (select id from ids)
  union all
  select uuid_extract_timestamp(id), 'event', concat_ws(' ', nullif(source, 'records'), nullif(object_type, ''), event), 'waits', id::text, array_length(entry_ids, 1) || ' changes', 3
  from waiting_deliveries where cause ->> 'requestId' in (select id from ids)
  union all
  select at, 'due task', kind, case when held then 'held' else 'waits' end, id::text, 'for ' || subject, 6
  from due_work
  where subject in (select id from ids union all select id::text from started union all select record_id::text from entries)
  union all
  select run.finished_at - run.duration_ms * interval '1 ms', 'function run', coalesce(function.name, run.function_id::text), run.ending,
    run.id::text, concat_ws(': ', run.duration_ms || ' ms', left(run.error, 200)), 2
  from function_runs as run left join functions as function on function.workspace_id = run.workspace_id and function.id = run.function_id
  where run.request_id in (select id from ids)
  union all
  select created_at, 'flow run', flow_name, status, id::text,
    concat_ws(' ', trigger ->> 'kind', trigger ->> 'event', 'of ' || (trigger ->> 'object_type'), error ->> 'code'), 2
  from flows
  union all
  select step.started_at, 'flow step', step.node_type, step.status, step.run_id::text,
    concat_ws(' ', step.node_id, nullif(step.iteration, ''), step.duration_ms || ' ms', step.error ->> 'code'), 3
  from flows join flow_steps as step on step.workspace_id = flows.workspace_id and step.run_id = flows.id
  union all
  select created_at, 'audit entry', action, null, id::text, object_type || ' ' || record_id, 2 from entries
  union all
  select notifications.created_at, 'notification', notifications.title, case when read_at is null then 'unread' else 'read' end,
    notifications.id::text, 'to ' || notifications.user_id, 4
  from entries
  join notification_rules as rules on rules.workspace_id = entries.workspace_id and rules.object_type = entries.object_type
  join notifications on notifications.workspace_id = entries.workspace_id
    and notifications.id = notification_id(entries.id, rules.id, notifications.user_id)
  union all
  select idempotency_records.created_at, 'idempotency record', idempotency_records.path, null, idempotency_records.operation_id::text, 'key ' || idempotency_records.key, 5
  from idempotency_records join started on started.id = idempotency_records.operation_id
`

/** A step with its rank among steps of the same instant: causes before effects. */
interface RankedStep extends Step {
  readonly place: number
}

/** Finds the effects of a request, by time; empty if none are known, or none any more. */
export async function traceRequest(db: Executor, requestId: string): Promise<Step[]> {
  const requests = await db.query<{ id: string }>({ text: requestsText, values: [requestId] })
  const ids = requests.map(({ id }) => id)
  const [steps, jobs] = [await db.query<RankedStep>({ text, values: [ids] }), await findJobsOfRequests(db, ids)]
  const ofJobs = jobs.map(({ id, job, at, isDeadLetter, state, attempt, message }): RankedStep => {
    const what = isDeadLetter ? 'dead letter' : 'job'
    return { at, what, name: job, state, id, detail: `attempt ${attempt}${message ? `: ${message}` : ''}`, place: 3 }
  })
  const order = [...steps, ...ofJobs].map((step) => ({ step, key: [step.at, step.place, step.id].join(' ') }))
  return order.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ step: { place: _, ...step } }) => step)
}
