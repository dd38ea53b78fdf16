import type { DeliveryStatus, WebhookAttempt } from '#shared/features/webhooks/schemas.ts'
import { bigint, instant, integer, jsonb, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  event_seq: bigint,
  status: text.as<DeliveryStatus>().notNull,
  attempts: jsonb.as<WebhookAttempt[]>().notNull,
}
const list = selectList(columns, 'delivery')

/** A page of a webhook's deliveries, those of one status or all, newest first. */
export const findDeliveries = statement(
  'webhooks.findDeliveries',
  `select ${list} from webhook_deliveries as delivery
   where workspace_id = $workspaceId and webhook_id = $webhookId and ($status::text is null or status = $status) and id < $beforeId
   order by id desc limit $limit`,
  {
    params: { workspaceId: uuid, webhookId: uuid, status: text.as<DeliveryStatus>().orNull, beforeId: uuid, limit: bigint },
    columns,
  },
)

const isKept = `(event_seq is null or exists (
  select from events where workspace_id = $workspaceId and events.seq = event_seq and events.id = event_id
))`

const again = `status = 'waiting', tries = 0, round = round + 1, next_attempt_at = $now`

export const findDelivery = statement(
  'webhooks.findDelivery',
  `select ${list} from webhook_deliveries as delivery where workspace_id = $workspaceId and webhook_id = $webhookId and id = $id`,
  { params: { workspaceId: uuid, webhookId: uuid, id: uuid }, columns },
)

/** Makes a delivery wait for a first try again. Returns no row if its event is no longer kept. */
export const resendDelivery = statement(
  'webhooks.resendDelivery',
  `update webhook_deliveries as delivery set ${again}
   where workspace_id = $workspaceId and webhook_id = $webhookId and id = $id and ${isKept} returning ${list}`,
  { params: { workspaceId: uuid, webhookId: uuid, id: uuid, now: instant }, columns },
)

/** Makes the failed deliveries of events above a number wait for a first try again, if the events are still kept. */
export const recoverDeliveries = statement(
  'webhooks.recoverDeliveries',
  `with begun as (
     update webhook_deliveries as delivery set ${again}
     where workspace_id = $workspaceId and webhook_id = $webhookId and status = 'failed' and event_seq > $sinceSeq and ${isKept}
     returning 1
   )
   select count(*)::integer as count from begun`,
  {
    params: { workspaceId: uuid, webhookId: uuid, sinceSeq: bigint, now: instant },
    columns: { count: integer.notNull },
  },
)

/** Stores the delivery of an example. */
export const insertTest = statement(
  'webhooks.insertTest',
  `insert into webhook_deliveries as delivery (workspace_id, webhook_id, event_id, type, next_attempt_at, created_at)
   values ($workspaceId, $webhookId, $eventId, $type, $now, $now) returning ${list}`,
  { params: { workspaceId: uuid, webhookId: uuid, eventId: uuid, type: text, now: instant }, columns },
)

/** Notes that deliveries of a webhook are due now, so that a run begins. */
export const makeDue = statement(
  'webhooks.makeDue',
  'update webhooks set next_attempt_at = $now where workspace_id = $workspaceId and id = $id',
  { params: { workspaceId: uuid, id: uuid, now: instant } },
)
