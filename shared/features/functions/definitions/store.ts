import { functionLimits } from '#shared/features/functions/limits.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import { boolean, instant, integer, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  functions_cap: ['VALIDATION_ERROR', `a workspace can have ${functionLimits.perWorkspace} functions; delete some first`],
})

const summaryColumns = {
  id: uuid.notNull,
  name: text.notNull,
  description: text.notNull,
  timeout_ms: integer.notNull,
  enabled: boolean.notNull,
  http_enabled: boolean.notNull,
  author_id: uuid.notNull,
  version: integer.notNull,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const summaryList = selectList(summaryColumns)

const columns = { ...summaryColumns, source: text.notNull }
const list = selectList(columns)

/** A page of a workspace's functions, in the order of their creation. */
export const findFunctions = creationPage(
  'functions.findFunctions',
  `select ${summaryList} from functions where workspace_id = $workspaceId`,
  { params: { workspaceId: uuid }, columns: summaryColumns },
)

/** One function without its source. */
export const findFunction = statement(
  'functions.findFunction',
  `select ${summaryList} from functions where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns: summaryColumns },
)

/** One function with its source. */
export const findFunctionWithSource = statement(
  'functions.findFunctionWithSource',
  `select ${list} from functions where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Inserts a function with its first version. */
export const insertFunction = statement(
  'functions.insertFunction',
  `with made as (
     insert into functions (workspace_id, id, name, description, source, timeout_ms, http_enabled, author_id)
     values ($workspaceId, $id, $name, $description, $source, $timeoutMs, $httpEnabled, $authorId)
     returning workspace_id, ${list}
   ),
   versioned as (
     insert into function_versions (workspace_id, function_id, version, source, author_id)
     select workspace_id, id, version, source, author_id from made
   )
   select ${list} from made`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text.orNull,
      description: text,
      source: text.orNull,
      timeoutMs: integer,
      httpEnabled: boolean,
      authorId: uuid.orNull,
    },
    columns,
  },
)

/**
 * Changes a function; null leaves a column unchanged. A source that differs from the stored one adds a version, of which the newest
 * `keptVersions` are kept, and its sender becomes the author.
 */
export const updateFunction = statement(
  'functions.updateFunction',
  `with changed as (
     update functions
     set name = coalesce($name, name), description = coalesce($description, description), timeout_ms = coalesce($timeoutMs, timeout_ms),
       enabled = coalesce($enabled, enabled), http_enabled = coalesce($httpEnabled, http_enabled), source = coalesce($source, source),
       author_id = case when $source <> source then $senderId else author_id end,
       version = case when $source <> source then version + 1 else version end,
       updated_at = now()
     where workspace_id = $workspaceId and id = $id
     returning workspace_id, ${list}, new.version <> old.version as is_new
   ),
   versioned as (
     insert into function_versions (workspace_id, function_id, version, source, author_id)
     select workspace_id, id, version, source, author_id from changed where is_new
   ),
   forgotten as (
     delete from function_versions as kept using changed
     where kept.workspace_id = changed.workspace_id and kept.function_id = changed.id and kept.version <= changed.version - $keptVersions
   )
   select ${list} from changed`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text.orNull,
      description: text.orNull,
      timeoutMs: integer.orNull,
      enabled: boolean.orNull,
      httpEnabled: boolean.orNull,
      source: text.orNull,
      senderId: uuid.orNull,
      keptVersions: integer,
    },
    columns,
  },
)

/** Deletes a function with its versions. */
export const deleteFunction = statement(
  'functions.deleteFunction',
  'delete from functions where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

const versionColumns = { version: integer.notNull, author_id: uuid.notNull, source_bytes: integer.notNull, created_at: instant.notNull }
const versionList = 'version, author_id, octet_length(source) as source_bytes, created_at'

/** The kept versions of a function's source, newest first, without the text. */
export const findVersions = statement(
  'functions.findVersions',
  `select ${versionList} from function_versions
   where workspace_id = $workspaceId and function_id = $functionId order by version desc`,
  { params: { workspaceId: uuid, functionId: uuid }, columns: versionColumns },
)

/** One version with its source. */
export const findVersion = statement(
  'functions.findVersion',
  `select ${versionList}, source from function_versions
   where workspace_id = $workspaceId and function_id = $functionId and version = $version`,
  { params: { workspaceId: uuid, functionId: uuid, version: integer }, columns: { ...versionColumns, source: text.notNull } },
)
