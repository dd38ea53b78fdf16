import { functionLimits } from '#shared/features/functions/limits.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  functions_cap: ['VALIDATION_ERROR', `a workspace can have ${functionLimits.perWorkspace} functions; delete some first`],
})

const listed = 'id, name, description, timeout_ms, enabled, http_enabled, author_id, version, created_at, updated_at'
const whole = `${listed}, source`

/**
 * Functions of a workspace, in the order of their creation. Values: workspace, instant and id after which the page begins, maximum number.
 */
export const findFunctions = creationPageSql('list_functions', `select ${listed} from functions where workspace_id = $1`, 1)

/** One function without its source. Values: workspace, id. */
export const findFunction = sql('find_function', `select ${listed} from functions where workspace_id = $1 and id = $2`)

/** One function with its source. Values: workspace, id. */
export const findFunctionWithSource = sql('find_whole_function', `select ${whole} from functions where workspace_id = $1 and id = $2`)

/** Inserts a function with its first version. Values: workspace, id, name, description, source, timeout, http_enabled, author. */
export const insertFunction = sql(
  'insert_function',
  `with made as (
     insert into functions (workspace_id, id, name, description, source, timeout_ms, http_enabled, author_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     returning workspace_id, ${whole}
   ),
   versioned as (
     insert into function_versions (workspace_id, function_id, version, source, author_id)
     select workspace_id, id, version, source, author_id from made
   )
   select ${whole} from made`,
)

/**
 * Changes a function; null leaves a column unchanged. A source that differs from the stored one adds a version, and its sender becomes the
 * author. Values: workspace, id, name, description, timeout, enabled, http_enabled, source, sender, number of versions to keep.
 */
export const updateFunction = sql(
  'update_function',
  `with changed as (
     update functions
     set name = coalesce($3, name), description = coalesce($4, description), timeout_ms = coalesce($5, timeout_ms),
       enabled = coalesce($6, enabled), http_enabled = coalesce($7, http_enabled), source = coalesce($8, source),
       author_id = case when $8 <> source then $9 else author_id end,
       version = case when $8 <> source then version + 1 else version end,
       updated_at = now()
     where workspace_id = $1 and id = $2
     returning workspace_id, ${whole}, new.version <> old.version as is_new
   ),
   versioned as (
     insert into function_versions (workspace_id, function_id, version, source, author_id)
     select workspace_id, id, version, source, author_id from changed where is_new
   ),
   forgotten as (
     delete from function_versions as kept using changed
     where kept.workspace_id = changed.workspace_id and kept.function_id = changed.id and kept.version <= changed.version - $10
   )
   select ${whole} from changed`,
)

/** Deletes a function with its versions. Values: workspace, id. */
export const deleteFunction = sql('delete_function', 'delete from functions where workspace_id = $1 and id = $2 returning id')

const versionColumns = 'version, author_id, octet_length(source) as source_bytes, created_at'

/** The kept versions of a function's source, newest first, without the text. Values: workspace, function. */
export const findVersions = sql(
  'find_function_versions',
  `select ${versionColumns} from function_versions where workspace_id = $1 and function_id = $2 order by version desc`,
)

/** One version with its source. Values: workspace, function, version. */
export const findVersion = sql(
  'find_function_version',
  `select ${versionColumns}, source from function_versions where workspace_id = $1 and function_id = $2 and version = $3`,
)
