import type { Invocation } from '#shared/core/automation/schemas.ts'
import type { FunctionRunView } from '#shared/features/functions/runs/schemas.ts'
import { bigint, instant, integer, json, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const ending = text.as<FunctionRunView['ending']>()

const columns = {
  id: uuid.notNull,
  function_id: uuid.notNull,
  version: integer.notNull,
  parent_id: uuid,
  actor_id: uuid,
  actor_type: text.notNull,
  request_id: text.notNull,
  ending: ending.notNull,
  error: text,
  result_bytes: integer.notNull,
  duration_ms: integer.notNull,
  finished_at: instant.notNull,
}
const list = selectList(columns)

/** A run as it is stored, without its logs and steps. */
export type FunctionRunRow = RowOf<typeof columns>

/** Inserts an ended run; no row for a run that is stored already, which is left unchanged. */
export const insertRun = statement(
  'functions.insertRun',
  `insert into function_runs (
     workspace_id, id, function_id, version, parent_id, actor_id, actor_type, request_id,
     ending, error, logs, steps, result_bytes, duration_ms
   )
   values (
     $workspaceId, $id, $functionId, $version, $parentId, $actorId, $actorType, $requestId,
     $ending, $error, $logs::json, $steps::json, $resultBytes, $durationMs
   )
   on conflict do nothing returning id`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      functionId: uuid,
      version: integer,
      /** The run that invoked this one. */
      parentId: uuid.orNull,
      actorId: uuid.orNull,
      actorType: text,
      requestId: text,
      ending,
      error: text.orNull,
      logs: json,
      steps: json,
      resultBytes: integer,
      durationMs: integer,
    },
    columns: { id: uuid.notNull },
  },
)

/** A page of a function's runs after the run `beforeId`, newest first. */
export const findRuns = statement(
  'functions.findRuns',
  `select ${list} from function_runs
   where workspace_id = $workspaceId and function_id = $functionId and id < $beforeId order by id desc limit $limit`,
  { params: { workspaceId: uuid, functionId: uuid, beforeId: uuid, limit: bigint }, columns },
)

/** One run with its logs and steps. */
export const findRun = statement(
  'functions.findRun',
  `select ${list}, logs, steps from function_runs where workspace_id = $workspaceId and function_id = $functionId and id = $id`,
  {
    params: { workspaceId: uuid, functionId: uuid, id: uuid },
    columns: { ...columns, logs: json.as<Invocation['logs']>().notNull, steps: json.as<Invocation['steps']>().notNull },
  },
)
