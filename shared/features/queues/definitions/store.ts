import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ queues_key: ['KEY_TAKEN', 'Another queue of this workspace has this key'] })

// A setting that is newer than the stored queue gets its default here.
const settings = `(jsonb '{"items_follow_records": false}' || settings::jsonb)::json as settings`
const columns = `id, key, name, object_type, enabled, stages, intake, ${settings}, editor_id, created_at, updated_at`

/** Queues of a workspace, oldest first. Values: workspace, instant and id after which the page begins, maximum number. */
export const findQueues = creationPageSql('list_queues', `select ${columns} from queues where workspace_id = $1 and deleted_at is null`, 1)

/** One queue. Values: workspace, id. */
export const findQueue = sql('find_queue', `select ${columns} from queues where workspace_id = $1 and id = $2 and deleted_at is null`)

/** One queue by its key. Values: workspace, key. */
export const findQueueByKey = sql(
  'find_queue_by_key',
  `select ${columns} from queues where workspace_id = $1 and key = $2 and deleted_at is null`,
)

/** Reads a queue and locks its row: other changes of its definition wait until the transaction ends. Values: workspace, id. */
export const lockQueue = sql(
  'lock_queue',
  `select ${columns} from queues where workspace_id = $1 and id = $2 and deleted_at is null for no key update`,
)

/** Number of queues of a workspace. Values: workspace. */
export const countQueues = sql('count_queues', 'select count(*) as count from queues where workspace_id = $1 and deleted_at is null')

/** Inserts a queue. Values: workspace, id, key, name, type key, enabled, stages, intake and settings as JSON, editor. */
export const insertQueue = sql(
  'insert_queue',
  `insert into queues (workspace_id, id, key, name, object_type, enabled, stages, intake, settings, editor_id)
   values ($1, $2, $3, $4, $5, $6, $7::text::json, $8::text::json, $9::text::json, $10)
   returning ${columns}`,
)

/** Replaces a queue's definition. Values: those of `insertQueue`, without the key. */
export const updateQueue = sql(
  'update_queue',
  `update queues
   set name = $3, object_type = $4, enabled = $5, stages = $6::text::json, intake = $7::text::json, settings = $8::text::json,
     editor_id = $9, updated_at = now()
   where workspace_id = $1 and id = $2
   returning ${columns}`,
)

/** Marks a queue as deleted, which hides it. Values: workspace, id. */
export const hideQueue = sql(
  'hide_queue',
  'update queues set deleted_at = now() where workspace_id = $1 and id = $2 and deleted_at is null returning id',
)

/** Inserts the missing rows of stages. Values: workspace, queue, keys. */
export const insertStages = sql(
  'insert_queue_stages',
  `insert into queue_stages (workspace_id, queue_id, key) select $1, $2, key from unnest($3::text[]) as key order by key on conflict do nothing`,
)

/** Locks the rows of stages that are to be removed, so that no item enters them. Values: workspace, queue, keys. */
export const lockStages = sql(
  'lock_queue_stages',
  `select key from queue_stages where workspace_id = $1 and queue_id = $2 and key = any($3::text[]) order by key for update`,
)

/** Number of open items in each of these stages that has any. Values: workspace, queue, keys. */
export const countInStages = sql(
  'count_in_stages',
  `select stage, count(*) as items from queue_items
   where workspace_id = $1 and queue_id = $2 and stage = any($3::text[]) and status = 'open'
   group by stage order by stage`,
)

/** Deletes the rows of stages. Values: workspace, queue, keys. */
export const deleteStages = sql(
  'delete_queue_stages',
  'delete from queue_stages where workspace_id = $1 and queue_id = $2 and key = any($3::text[])',
)

/**
 * Locks a stage's row until the transaction ends, so that moves into a stage with a limit run one after another. Values: workspace, queue,
 * stage.
 */
export const lockStage = sql(
  'lock_queue_stage',
  'select key from queue_stages where workspace_id = $1 and queue_id = $2 and key = $3 for no key update',
)

/**
 * Writes the audit entry of a deleted queue. Values: workspace, actor, actor type, object type, queue, the queue's name and counts as JSON,
 * request.
 */
export const auditDeletion = sql(
  'audit_queue_deletion',
  `insert into audit_entries (workspace_id, actor_id, actor_type, action, object_type, record_id, before, after, text_length, request_id)
   values ($1, $2, $3, 'queue.deleted', $4, $5, $6::text::jsonb, null, length($6::text), $7)`,
)

/** Returns a row if the queue is marked as deleted. Values: workspace, id. */
export const findHiddenQueue = sql(
  'is_queue_hidden',
  'select id from queues where workspace_id = $1 and id = $2 and deleted_at is not null',
)

/** Deletes some items of a queue and returns their ids: no row when none were left. Values: workspace, queue, maximum number. */
export const clearItems = sql(
  'clear_queue_items',
  `delete from queue_items where workspace_id = $1 and queue_id = $2 and id = any(array(
     select id from queue_items where workspace_id = $1 and queue_id = $2 order by id limit $3
   )) returning id`,
)

/** Deletes some history entries of a queue and returns their ids. Values: workspace, queue, maximum number. */
export const clearHistory = sql(
  'clear_queue_history',
  `delete from queue_history where workspace_id = $1 and queue_id = $2 and id = any(array(
     select id from queue_history where workspace_id = $1 and queue_id = $2 order by id limit $3
   )) returning id`,
)

/** Deletes the row of a queue that is marked as deleted, and with it its stages and counts. Values: workspace, id. */
export const deleteQueue = sql('delete_queue', 'delete from queues where workspace_id = $1 and id = $2 and deleted_at is not null')
