import type { FlowRunSummary, TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { bigint, boolean, instant, json, jsonb, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const input = json.as<TriggerInput>()

const endedColumns = {
  id: uuid.notNull,
  input: input.notNull,
  objectType: text,
  isPersonal: boolean.notNull,
  trigger: json.as<FlowRunSummary['trigger']>().notNull,
  trigger_visibility: json.as<TriggerVisibility>(),
  created_at: instant.notNull,
}

/** An ended run with its trigger. */
export type EndedRun = RowOf<typeof endedColumns>

/** The newest ended runs of a flow that were no retries. */
export const findRunsToRehearse = statement(
  'flows.findRunsToRehearse',
  `select id, input, trigger ->> 'object_type' as "objectType", is_personal as "isPersonal", trigger, trigger_visibility, created_at
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
