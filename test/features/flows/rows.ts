import type { Cause } from '#shared/platform/kernel/cause.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Db } from '#test/support/rows.ts'

/** Inserts flows without a version, past the API. */
export async function addEmptyFlows(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into flows (workspace_id, id, name, created_at, updated_at) select $1, uuidv7(), 'x', now(), now() from generate_series(1, $2)`,
    [workspaceId, count],
  )
}

/** Inserts copies of a scheduled flow that are all due at this time. Returns their number. */
export async function addScheduledFlows(
  db: Db,
  workspaceId: string,
  flowId: string,
  { count, createdAt, dueAt }: { readonly count: number; readonly createdAt: Date; readonly dueAt: Date },
): Promise<number> {
  const { rowCount } = await db.query(
    `with made as (
       insert into flows (workspace_id, id, name, enabled, created_at, updated_at)
       select $1, uuidv7(), 'many', true, $3, $3 from generate_series(1, $5) returning id
     ),
     versions as (
       insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
       select $1, made.id, 1, nodes, edges, context, editor_id, $3 from made cross join flow_versions where flow_id = $2
     )
     insert into due_work (workspace_id, kind, subject, at) select $1, 'flows.schedule', id::text, $4 from made returning id`,
    [workspaceId, flowId, createdAt, dueAt, count],
  )
  return rowCount ?? 0
}

/** Stores a newer version of a flow with another trigger, as an earlier release may have, past the API; its subscription stays. */
export async function storeTrigger(db: Db, flowId: string, type: string, config: object): Promise<void> {
  await db.query(
    `with changed as (update flows set version = version + 1 where id = $1)
     insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
     select workspace_id, flow_id, version + 1, (
         select json_agg(case when node ->> 'id' = 't' then jsonb_build_object('id', 't', 'type', $2::text, 'config', $3::jsonb) else node end)
         from jsonb_array_elements(nodes::jsonb) as node
       ), edges, context, editor_id, now()
     from flow_versions where flow_id = $1 order by version desc limit 1`,
    [flowId, type, JSON.stringify(config)],
  )
}

/** Sets the end of a run more than a week back, so that it cannot be retried. */
export async function ageRun(db: Db, runId: string): Promise<void> {
  await db.query(`update flow_runs set finished_at = now() - interval '7 days 1 minute' where id = $1`, [runId])
}

/** The number of a flow's runs that have ended. */
export async function countEndedRuns(db: Db, flowId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from flow_runs where flow_id = $1 and finished_at is not null',
    [flowId],
  )
  return rows[0]?.count ?? 0
}

/** The number of outputs that are stored outside the steps of a run. */
export async function countLongOutputs(db: Db, runId: string): Promise<number> {
  return (await db.query('select from flow_outputs where run_id = $1', [runId])).rowCount ?? 0
}

/** The number of different names in the records that the steps of a run created. */
export async function countNamesInSteps(db: Db, runId: string): Promise<number> {
  const { rows } = await db.query<{ names: number }>(
    `select count(distinct output -> 'values' ->> 'name')::integer as names from flow_steps where run_id = $1`,
    [runId],
  )
  return rows[0]?.names ?? 0
}

/** For each of the runs `quick`, the number of runs of a flow that started while it waited for its start. */
export async function countOvertakingRuns(db: Db, quick: readonly string[], flowId: string): Promise<number[]> {
  const { rows } = await db.query<{ count: number }>(
    `select count(run.id)::integer as count from flow_runs quick
     left join flow_runs run on run.flow_id = $2 and run.started_at between quick.created_at and quick.started_at
     where quick.id = any($1) group by quick.id`,
    [quick, flowId],
  )
  return rows.map(({ count }) => count)
}

/** The number of a flow's runs, which may be deleted. */
export async function countRunsOfFlow(db: Db, flowId: string): Promise<number> {
  return (await db.query('select from flow_runs where flow_id = $1', [flowId])).rowCount ?? 0
}

/** The number of times that a record was updated, by the audit. */
export async function countUpdates(db: Db, recordId: string): Promise<number> {
  const { rowCount } = await db.query(`select from audit_entries where record_id = $1 and action = 'record.updated'`, [recordId])
  return rowCount ?? 0
}

/** Deletes a workspace's waiting deliveries. */
export async function deleteWaitingDeliveries(db: Db, workspaceId: string): Promise<void> {
  await db.query('delete from waiting_deliveries where workspace_id = $1', [workspaceId])
}

/** Waits until a run is parked. Its earlier steps are seen before: each is committed alone. */
export async function waitUntilParked(db: Db, runId: string): Promise<void> {
  await eventually(async () => (await db.query('select from flow_runs where id = $1 and waiting is not null', [runId])).rowCount === 1)
}

/** Lets the wait of a parked run end now. */
export async function endWait(db: Db, runId: string): Promise<void> {
  await db.query(`update flow_runs set waiting = jsonb_set(waiting::jsonb, '{until}', to_jsonb(now())) where id = $1`, [runId])
  await db.query(`update due_work set at = now() where kind = 'flows.wait' and subject = $1`, [runId])
}

/** Leaves the call of a run as a killed worker does: taken, and due for another attempt. */
export async function loseCallAttempt(db: Db, runId: string): Promise<void> {
  await db.query(
    `update pgboss.job set state = 'retry', start_after = now()
     where name = 'flows.call' and state = 'active' and data -> 'payload' ->> 'runId' = $1`,
    [runId],
  )
}

/**
 * Leaves an ended run as lost workers do: running since a minute, without its job and steps, and revived so often before; with `callOf` as
 * one that waits for the call of that block.
 */
export async function loseRun(db: Db, runId: string, revived: number, callOf?: string): Promise<void> {
  await db.query(
    `update flow_runs set status = 'running', finished_at = null, touched_at = now() - interval '1 minute', job_id = uuidv7(), revived = $2,
       trigger_key = trigger_key || ' again', steps = case when $3::text is null then steps else 0 end,
       waiting = case when $3 is null then waiting else json_build_object('kind', 'call', 'started_at', now(), 'node_id', $3) end
     where id = $1`,
    [runId, revived, callOf ?? null],
  )
  await db.query('delete from flow_steps where run_id = $1', [runId])
}

/** The queues of a workspace's deferred jobs. */
export async function readDeferredQueues(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ queue: string }>('select queue from deferred_jobs where workspace_id = $1', [workspaceId])
  return rows.map(({ queue }) => queue)
}

/** A waiting delivery, as far as tests repeat it. */
export interface WaitingDelivery {
  readonly source: string
  readonly object_type: string
  readonly event: string
  readonly snapshots: unknown[] | null
  readonly entry_ids: string[]
  readonly subject_ids: string[]
  readonly cause: Cause
}

/** A workspace's waiting deliveries. */
export async function readWaitingDeliveries(db: Db, workspaceId: string): Promise<WaitingDelivery[]> {
  const { rows } = await db.query<WaitingDelivery>('select * from waiting_deliveries where workspace_id = $1 order by id', [workspaceId])
  return rows
}

/** The outputs of a run's steps as they are stored. */
export async function readOutputs(db: Db, runId: string): Promise<unknown[]> {
  const { rows } = await db.query<{ output: unknown }>(
    `select step.output from flow_steps as step where run_id = $1 union all select output from flow_outputs where run_id = $1`,
    [runId],
  )
  return rows.map(({ output }) => output)
}

/** The number of a workspace's records, as it is counted for its plan. */
export async function readRecordCount(db: Db, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ records: number }>(
    'select coalesce(sum(records), 0)::integer as records from record_counts where workspace_id = $1',
    [workspaceId],
  )
  return rows[0]?.records ?? 0
}

/** Runs of a flow that record events started. */
export interface RecordRuns {
  readonly runs: number
  /** Number of different records. */
  readonly records: number
  /** Number of runs that succeeded. */
  readonly ok: number
}

/** Counts the runs of a flow and their records. */
export async function readRecordRuns(db: Db, flowId: string): Promise<RecordRuns | undefined> {
  const { rows } = await db.query<RecordRuns>(
    `select count(*)::integer as runs, count(distinct trigger ->> 'record_id')::integer as records,
       count(*) filter (where status = 'ok')::integer as ok from flow_runs where flow_id = $1`,
    [flowId],
  )
  return rows[0]
}

/** Counts a workspace's runs and the flows that have some. */
export async function readRunsAndFlows(db: Db, workspaceId: string): Promise<{ runs: number; flows: number } | undefined> {
  const { rows } = await db.query<{ runs: number; flows: number }>(
    'select count(*)::integer as runs, count(distinct flow_id)::integer as flows from flow_runs where workspace_id = $1',
    [workspaceId],
  )
  return rows[0]
}

/** A workspace's runs of one status. */
export interface StatusRuns {
  readonly status: string
  readonly runs: number
  /** Number of different names among the records that started them. */
  readonly names: number
}

/** Counts a workspace's runs by their status, in the order of its name. */
export async function readRunsByStatus(db: Db, workspaceId: string): Promise<StatusRuns[]> {
  const { rows } = await db.query<StatusRuns>(
    `select status, count(*)::integer as runs, count(distinct input -> 'record' ->> 'name')::integer as names from flow_runs
     where workspace_id = $1 group by status order by status`,
    [workspaceId],
  )
  return rows
}
