import type { Filter } from '#shared/core/records/query/filter-tree.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import { boolean, bytes, instant, json, type RowOf, selectList, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

declareConflicts({ webhooks_cap: ['VALIDATION_ERROR', 'a workspace can have 100 webhooks; delete some first'] })

type Status = 'active' | 'failing' | 'disabled'

const columns = {
  id: uuid.notNull,
  url: text.notNull,
  description: text.notNull,
  types: texts.notNull,
  object_type: text,
  filter: json.as<Filter>(),
  service_account_id: uuid,
  maker_id: uuid.notNull,
  enabled: boolean.notNull,
  status: text.as<Status>().notNull,
  failing_since: instant,
  last_delivery_at: instant,
  next_attempt_at: instant,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
/** A webhook as answers show it. */
export type WebhookRow = RowOf<typeof columns>

const list = selectList(columns, 'webhook', {
  enabled: `webhook.status <> 'disabled'`,
  next_attempt_at: `least(
    (select next_attempt_at from webhook_deliveries as waiting
     where waiting.workspace_id = webhook.workspace_id and waiting.webhook_id = webhook.id and waiting.status = 'waiting' and tries = 0
     order by event_seq limit 1),
    (select min(next_attempt_at) from webhook_deliveries as waiting
     where waiting.workspace_id = webhook.workspace_id and waiting.webhook_id = webhook.id and waiting.status = 'waiting' and tries > 0))`,
})

const sealedAs = {
  table: 'webhooks',
  key: { workspace_id: 'uuid', id: 'uuid' },
  purpose: 'webhook secrets',
  place: ['workspace_id', 'id'],
} as const

/** Secrets that sign. Both columns seal for the same place, so that a rotation moves a value from one to the other. */
export const sealedSecrets = defineSealed({ ...sealedAs, column: 'secret_sealed' })
export const sealedPreviousSecrets = defineSealed({ ...sealedAs, column: 'previous_secret_sealed' })

/** A page of a workspace's webhooks, oldest first. */
export const findWebhooks = creationPage(
  'webhooks.findWebhooks',
  `select ${list} from webhooks as webhook where workspace_id = $workspaceId`,
  {
    params: { workspaceId: uuid },
    columns,
  },
)

const one = { params: { workspaceId: uuid, id: uuid }, columns }

export const findWebhook = statement(
  'webhooks.findWebhook',
  `select ${list} from webhooks as webhook where workspace_id = $workspaceId and id = $id`,
  one,
)

/** A webhook, locked until the transaction ends. */
export const lockWebhook = statement(
  'webhooks.lockWebhook',
  `select ${list} from webhooks as webhook where workspace_id = $workspaceId and id = $id for no key update`,
  one,
)

const definition = {
  workspaceId: uuid,
  id: uuid,
  url: text,
  description: text,
  types: texts,
  objectType: text.orNull,
  filter: text.orNull,
  filterKeys: texts,
  serviceAccountId: uuid.orNull,
  makerId: uuid,
  enabled: boolean,
}

/** Stores a webhook. It begins with what is numbered from now on. */
export const insertWebhook = statement(
  'webhooks.insertWebhook',
  `insert into webhooks as webhook (
     workspace_id, id, url, description, types, object_type, filter, filter_keys, service_account_id, maker_id, status, secret_sealed, seen_seq
   )
   select $workspaceId::uuid, $id::uuid, $url, $description, $types::text[], $objectType, $filter::text::json, $filterKeys::text[],
     $serviceAccountId::uuid, $makerId::uuid, case when $enabled::boolean then 'active' else 'disabled' end, $secret::bytea, last_seq
   from feed_heads where workspace_id = $workspaceId
   returning ${list}`,
  { params: { ...definition, secret: bytes }, columns },
)

/** Changes a locked webhook. One that was off begins with what is numbered from now on. */
export const updateWebhook = statement(
  'webhooks.updateWebhook',
  `update webhooks as webhook
   set url = $url, description = $description, types = $types::text[], object_type = $objectType, filter = $filter::text::json,
     filter_keys = $filterKeys::text[], service_account_id = $serviceAccountId::uuid, maker_id = $makerId::uuid, updated_at = now(),
     status = case when not $enabled::boolean then 'disabled' when webhook.status = 'disabled' then 'active' else webhook.status end,
     failing_since = case when $enabled and webhook.status = 'failing' then failing_since end,
     is_failure_reported = is_failure_reported and $enabled and webhook.status = 'failing',
     next_attempt_at = case when $enabled then webhook.next_attempt_at end,
     seen_seq = case when webhook.status = 'disabled'
       then (select last_seq from feed_heads where workspace_id = $workspaceId) else seen_seq end
   where workspace_id = $workspaceId and id = $id
   returning ${list}`,
  { params: definition, columns },
)

export const deleteWebhook = statement(
  'webhooks.deleteWebhook',
  'delete from webhooks where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Gives a webhook another secret; the one that it had signs too until `previousUntil`. */
export const replaceSecret = statement(
  'webhooks.replaceSecret',
  `update webhooks as webhook
   set previous_secret_sealed = secret_sealed, previous_secret_until = $previousUntil, secret_sealed = $secret, updated_at = now()
   where workspace_id = $workspaceId and id = $id
   returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, secret: bytes, previousUntil: instant }, columns },
)
