import { sql } from '#shared/platform/db/statements/statement.ts'

const listed =
  'id, function_id, version, parent_id, actor_id, actor_type, request_id, ending, error, result_bytes, duration_ms, finished_at'

/**
 * Inserts an ended run; a run that is stored already is left unchanged. Values: workspace, id, function, version, id of the invoking run or
 * null, actor, actor type, request, ending, error, logs, steps, bytes of the result, duration in milliseconds.
 */
export const insertRun = sql(
  'insert_function_run',
  `insert into function_runs
     (workspace_id, id, function_id, version, parent_id, actor_id, actor_type, request_id, ending, error, logs, steps, result_bytes, duration_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::json, $12::json, $13, $14)
   on conflict do nothing`,
)

/** A page of a function's runs, newest first. Values: workspace, function, run after which the page begins, maximum number. */
export const findRuns = sql(
  'find_function_runs',
  `select ${listed} from function_runs where workspace_id = $1 and function_id = $2 and id < $3 order by id desc limit $4`,
)

/** One run with its logs and steps. Values: workspace, function, id. */
export const findRun = sql(
  'find_function_run',
  `select ${listed}, logs, steps from function_runs where workspace_id = $1 and function_id = $2 and id = $3`,
)
