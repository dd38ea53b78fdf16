import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { closedEvent, insertItemEvents, itemEventParams } from '#shared/features/queues/events/store.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import { bigint, boolean, instant, json, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ queues_key: ['KEY_TAKEN', 'Another queue of this workspace has this key'] })

const columns = {
  id: uuid.notNull,
  key: text.notNull,
  name: text.notNull,
  object_type: text,
  enabled: boolean.notNull,
  stages: json.as<Queue['stages']>().notNull,
  intake: json.as<Queue['intake']>().notNull,
  settings: json.as<Queue['settings']>().notNull,
  editor_id: uuid,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
// A setting that is newer than the stored queue gets its default here.
const settings = `(jsonb '{"items_follow_records": false}' || settings::jsonb)::json as settings`
const list = `id, key, name, object_type, enabled, stages, intake, ${settings}, editor_id, created_at, updated_at`

/** A page of a workspace's queues, oldest first. */
export const findQueues = creationPage(
  'queues.findQueues',
  `select ${list} from queues where workspace_id = $workspaceId and deleted_at is null`,
  { params: { workspaceId: uuid }, columns },
)

/** One queue. */
export const findQueue = statement(
  'queues.findQueue',
  `select ${list} from queues where workspace_id = $workspaceId and id = $id and deleted_at is null`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Some of a workspace's queues. */
export const findQueuesByIds = statement(
  'queues.findQueuesByIds',
  `select ${list} from queues where workspace_id = $workspaceId and id = any($ids::uuid[]) and deleted_at is null order by id`,
  { params: { workspaceId: uuid, ids: uuids }, columns },
)

/** One queue by its key. */
export const findQueueByKey = statement(
  'queues.findQueueByKey',
  `select ${list} from queues where workspace_id = $workspaceId and key = $key and deleted_at is null`,
  { params: { workspaceId: uuid, key: text }, columns },
)

/** Reads a queue and locks its row: other changes of its definition wait until the transaction ends. */
export const lockQueue = statement(
  'queues.lockQueue',
  `select ${list} from queues where workspace_id = $workspaceId and id = $id and deleted_at is null for no key update`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Number of queues of a workspace. */
export const countQueues = statement(
  'queues.countQueues',
  'select count(*) as count from queues where workspace_id = $workspaceId and deleted_at is null',
  { params: { workspaceId: uuid }, columns: { count: bigint.notNull } },
)

const definitionParams = {
  workspaceId: uuid,
  id: uuid,
  name: text,
  objectType: text.orNull,
  enabled: boolean,
  /** These three are JSON text. */
  stages: text,
  intake: text,
  settings: text,
  editorId: uuid.orNull,
}

/** Inserts a queue. */
export const insertQueue = statement(
  'queues.insertQueue',
  `insert into queues (workspace_id, id, key, name, object_type, enabled, stages, intake, settings, editor_id)
   values (
     $workspaceId, $id, $key, $name, $objectType, $enabled,
     $stages::text::json, $intake::text::json, $settings::text::json, $editorId
   )
   returning ${list}`,
  { params: { ...definitionParams, key: text }, columns },
)

/** Replaces a queue's definition; the key stays. */
export const updateQueue = statement(
  'queues.updateQueue',
  `update queues
   set name = $name, object_type = $objectType, enabled = $enabled, stages = $stages::text::json, intake = $intake::text::json,
     settings = $settings::text::json, editor_id = $editorId, updated_at = now()
   where workspace_id = $workspaceId and id = $id
   returning ${list}`,
  { params: definitionParams, columns },
)

/** Marks a queue as deleted, which hides it. */
export const hideQueue = statement(
  'queues.hideQueue',
  'update queues set deleted_at = now() where workspace_id = $workspaceId and id = $id and deleted_at is null returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

const stagesParams = { workspaceId: uuid, queueId: uuid, keys: texts }

/** Inserts the missing rows of stages. */
export const insertStages = statement(
  'queues.insertStages',
  `insert into queue_stages (workspace_id, queue_id, key)
   select $workspaceId, $queueId, key from unnest($keys::text[]) as key order by key on conflict do nothing`,
  { params: stagesParams },
)

/** Locks the rows of stages that are to be removed, so that no item enters them. */
export const lockStages = statement(
  'queues.lockStages',
  `select key from queue_stages
   where workspace_id = $workspaceId and queue_id = $queueId and key = any($keys::text[]) order by key for update`,
  { params: stagesParams, columns: { key: text.notNull } },
)

/** Number of open items in each of these stages that has any. */
export const countInStages = statement(
  'queues.countInStages',
  `select stage, count(*) as items from queue_items
   where workspace_id = $workspaceId and queue_id = $queueId and stage = any($keys::text[]) and status = 'open'
   group by stage order by stage`,
  { params: stagesParams, columns: { stage: text.notNull, items: bigint.notNull } },
)

/** Deletes the rows of stages. */
export const deleteStages = statement(
  'queues.deleteStages',
  'delete from queue_stages where workspace_id = $workspaceId and queue_id = $queueId and key = any($keys::text[])',
  { params: stagesParams },
)

/** Locks a stage's row until the transaction ends, so that moves into a stage with a limit run one after another. */
export const lockStage = statement(
  'queues.lockStage',
  'select key from queue_stages where workspace_id = $workspaceId and queue_id = $queueId and key = $key for no key update',
  { params: { workspaceId: uuid, queueId: uuid, key: text }, columns: { key: text.notNull } },
)

/** Inserts the audit entry of a deleted queue. */
export const auditDeletion = statement(
  'queues.auditDeletion',
  `insert into audit_entries
     (workspace_id, actor_id, actor_type, action, object_type, record_id, before, after, text_length, request_id, cause_kind, cause_id)
   values (
     $workspaceId, $actorId, $actorType, 'queue.deleted', $objectType, $queueId, $before::text::jsonb, null, length($before::text),
     $requestId, $causeKind, $causeId
   )`,
  {
    params: {
      workspaceId: uuid,
      queueId: uuid,
      actorId: uuid.orNull,
      actorType: text,
      objectType: text,
      /** The queue's name and counts as JSON text. */
      before: text,
      requestId: text,
      causeKind: text,
      causeId: uuid.orNull,
    },
  },
)

/** A queue that is marked as deleted. */
export const findHiddenQueue = statement(
  'queues.findHiddenQueue',
  'select id, object_type from queues where workspace_id = $workspaceId and id = $id and deleted_at is not null',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull, object_type: text } },
)

/** SQL that deletes the next rows of a queue, in the order of ids. */
const deleteRows = (table: 'queue_items' | 'queue_history', returning: string) =>
  `delete from ${table} where workspace_id = $workspaceId and queue_id = $queueId and id = any(array(
     select id from ${table} where workspace_id = $workspaceId and queue_id = $queueId order by id limit $limit
   )) returning ${returning}`
const clearParams = { workspaceId: uuid, queueId: uuid, limit: bigint }

/** Deletes some items of a queue, tells that the open ones are closed, and returns their ids: no row when none were left. */
export const clearItems = statement(
  'queues.clearItems',
  `with gone as (${deleteRows('queue_items', '*')}),
   announced as (${insertItemEvents(`select ${closedEvent('gone', `'deleted'`, 'gone.id')} from gone where gone.status = 'open'`)})
   select id from gone`,
  { params: { ...clearParams, ...itemEventParams }, columns: { id: uuid.notNull } },
)

/** Deletes some history entries of a queue and returns their ids. */
export const clearHistory = statement('queues.clearHistory', deleteRows('queue_history', 'id'), {
  params: clearParams,
  columns: { id: uuid.notNull },
})

/** Deletes the row of a queue that is marked as deleted, and with it its stages and counts. */
export const deleteQueue = statement(
  'queues.deleteQueue',
  'delete from queues where workspace_id = $workspaceId and id = $id and deleted_at is not null',
  { params: { workspaceId: uuid, id: uuid } },
)
