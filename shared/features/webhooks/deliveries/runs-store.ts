import type { Filter } from '#shared/core/records/query/filter-tree.ts'
import {
  bigint,
  boolean,
  bytes,
  instant,
  integer,
  json,
  type RowOf,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/**
 * Marks webhooks as queued that have something to do: events that they have not looked at, or a delivery that is due. Passes over those that
 * a run has, or whose job waits, and over suspended workspaces. Returns them.
 */
export const queueWebhooks = statement(
  'webhooks.queueWebhooks',
  `with due as (
     select webhook.workspace_id, webhook.id
     from webhooks as webhook
     join feed_heads as head on head.workspace_id = webhook.workspace_id
     join workspaces as workspace on workspace.id = webhook.workspace_id
     where webhook.status <> 'disabled' and queued_at is null and (run_until is null or run_until <= $now)
       and (seen_seq < last_seq or next_attempt_at <= $now) and workspace.status = 'active'
     order by webhook.workspace_id, webhook.id limit $limit
     for no key update of webhook skip locked
   )
   update webhooks as webhook set queued_at = $now from due
   where webhook.workspace_id = due.workspace_id and webhook.id = due.id
   returning webhook.workspace_id, webhook.id`,
  { params: { now: instant, limit: bigint }, columns: { workspace_id: uuid.notNull, id: uuid.notNull } },
)

/** Whether jobs of webhooks wait for a slot, of any workspace, since before a time. */
export const findLateWebhooks = statement(
  'webhooks.findLateWebhooks',
  'select true as is_late where exists (select from webhooks where queued_at < $before)',
  { params: { before: instant }, columns: { is_late: boolean.notNull } },
)

const runColumns = {
  id: uuid.notNull,
  url: text.notNull,
  types: texts.notNull,
  object_type: text,
  filter: json.as<Filter>(),
  service_account_id: uuid,
  maker_id: uuid.notNull,
  secret_sealed: bytes.notNull,
  previous_secret_sealed: bytes,
  seen_seq: bigint.notNull,
}
/** A webhook as a run sees it. `previous_secret_sealed` is null once it no longer signs. */
export type RunningWebhook = RowOf<typeof runColumns>

const runList = `webhook.id, url, types, object_type, filter, service_account_id, maker_id, secret_sealed,
  case when previous_secret_until > $now then previous_secret_sealed end as previous_secret_sealed, seen_seq`

const runParams = { workspaceId: uuid, id: uuid, runId: uuid, now: instant, until: instant }

/** Begins the run of a webhook, until a time; no row where another run has it, or it is off. Its job no longer waits. */
export const beginRun = statement(
  'webhooks.beginRun',
  `with free as (
     select workspace_id, id, status <> 'disabled' and (run_until is null or run_until <= $now or run_id = $runId) as is_free
     from webhooks where workspace_id = $workspaceId and id = $id for no key update
   ),
   begun as (
     update webhooks as webhook
     set queued_at = null, run_id = case when is_free then $runId else run_id end, run_until = case when is_free then $until else run_until end
     from free where webhook.workspace_id = free.workspace_id and webhook.id = free.id
     returning webhook.*, is_free
   )
   select ${runList} from begun as webhook where is_free`,
  { params: runParams, columns: runColumns },
)

/** Goes on with a run; no row where it has ended, or the webhook is off. */
export const renewRun = statement(
  'webhooks.renewRun',
  `update webhooks as webhook set run_until = $until
   where workspace_id = $workspaceId and id = $id and run_id = $runId and status <> 'disabled'
   returning ${runList}`,
  { params: runParams, columns: runColumns },
)

const firstDue = `least(
  (select next_attempt_at from webhook_deliveries where workspace_id = $workspaceId and webhook_id = $id and status = 'waiting' and tries = 0
   order by event_seq limit 1),
  (select min(next_attempt_at) from webhook_deliveries
   where workspace_id = $workspaceId and webhook_id = $id and status = 'waiting' and tries > 0))`

/** Ends a run, and notes when the next delivery is due. */
export const endRun = statement(
  'webhooks.endRun',
  `update webhooks set run_id = null, run_until = null, next_attempt_at = ${firstDue}
   where workspace_id = $workspaceId and id = $id and run_id = $runId`,
  { params: { workspaceId: uuid, id: uuid, runId: uuid } },
)

const dueColumns = {
  id: uuid.notNull,
  event_seq: bigint,
  event_id: uuid.notNull,
  type: text.notNull,
  tries: integer.notNull,
  round: integer.notNull,
}
/** A delivery that is due. */
export type DueDelivery = RowOf<typeof dueColumns>

/**
 * Stores the deliveries of events, moves the webhook's `seen_seq` on, and returns the deliveries in their order. Does nothing if `seen_seq` is no
 * longer the one that the run read. `events` is a JSON list of seq, id and type in their order.
 */
export const planDeliveries = statement(
  'webhooks.planDeliveries',
  `with moved as (
     update webhooks set seen_seq = $upTo
     where workspace_id = $workspaceId and id = $id and run_id = $runId and seen_seq = $from and status <> 'disabled' returning id
   )
   insert into webhook_deliveries (workspace_id, webhook_id, event_seq, event_id, type, next_attempt_at, created_at)
   select $workspaceId, moved.id, event.seq, event.id, event.type, $now, $now
   from moved, jsonb_to_recordset($events::text::jsonb) as event (seq bigint, id uuid, type text)
   order by event.seq
   on conflict on constraint webhook_deliveries_event do nothing
   returning id, event_seq, event_id, type, tries, round`,
  { params: { workspaceId: uuid, id: uuid, runId: uuid, from: bigint, upTo: bigint, events: text, now: instant }, columns: dueColumns },
)

const dueParams = { workspaceId: uuid, webhookId: uuid, except: uuids, limit: bigint }
const ofWebhook = `workspace_id = $workspaceId and webhook_id = $webhookId and status = 'waiting' and id <> all($except::uuid[])`

/** Deliveries that were not tried yet, in the order of their events; tests come last. */
export const findFirstTries = statement(
  'webhooks.findFirstTries',
  `select id, event_seq, event_id, type, tries, round from webhook_deliveries
   where ${ofWebhook} and tries = 0 order by event_seq, id limit $limit`,
  { params: dueParams, columns: dueColumns },
)

/** Deliveries whose next try is due, the oldest first. */
export const findRetries = statement(
  'webhooks.findRetries',
  `select id, event_seq, event_id, type, tries, round from webhook_deliveries
   where ${ofWebhook} and tries > 0 and next_attempt_at <= $now order by next_attempt_at, id limit $limit`,
  { params: { ...dueParams, now: instant }, columns: dueColumns },
)

/** Whether an outcome decides about its delivery: one that was taken does so also where the webhook was switched off meanwhile. */
const isOwn = `delivery.round = outcome.round and (delivery.status = 'waiting' or outcome.status = 'delivered')`

/** The last tries of a delivery that are kept. */
const keptAttempts = 30

/**
 * Stores how tries ended. `outcomes` is a JSON list of the delivery's id and round, the attempt, its new status and the time of the next
 * try; a delivery that was to be sent again meanwhile keeps its own. `ending` is what the webhook becomes by the last of them: taken,
 * failed, gone for good, or none where nothing was sent; `failedSince` the first of the failed ones since the last that was taken, `isFresh`
 * whether one was taken before it.
 */
export const saveOutcomes = statement(
  'webhooks.saveOutcomes',
  `with outcome as (
     select * from jsonb_to_recordset($outcomes::text::jsonb) as of_try (id uuid, round integer, attempt jsonb, status text, next timestamptz)
   ),
   stored as (
     update webhook_deliveries as delivery
     set attempts = case when jsonb_array_length(attempts) >= ${keptAttempts} then attempts - 0 else attempts end || jsonb_build_array(attempt),
       tries = case when delivery.round = outcome.round then tries + 1 else tries end,
       status = case when ${isOwn} then outcome.status else delivery.status end,
       next_attempt_at = case when ${isOwn} then outcome.next else next_attempt_at end
     from outcome
     where delivery.workspace_id = $workspaceId and delivery.webhook_id = $webhookId and delivery.id = outcome.id
   )
   update webhooks set
     status = case when $ending = 'none' then status when status = 'disabled' or $ending = 'gone' then 'disabled' when $ending = 'taken' then 'active' else 'failing' end,
     failing_since = case when $ending = 'none' then failing_since when status = 'disabled' or $ending <> 'failed' then null
       when $isFresh::boolean then $failedSince else coalesce(failing_since, $failedSince) end,
     is_failure_reported = is_failure_reported and status = 'failing' and $ending in ('none', 'failed') and not $isFresh,
     last_delivery_at = coalesce($takenAt, last_delivery_at),
     next_attempt_at = case when $ending <> 'gone' then next_attempt_at end,
     updated_at = case when status <> 'disabled' and $ending = 'gone' then $now else updated_at end
   where workspace_id = $workspaceId and id = $webhookId`,
  {
    params: {
      workspaceId: uuid,
      webhookId: uuid,
      outcomes: text,
      ending: text.as<'taken' | 'failed' | 'gone' | 'none'>(),
      failedSince: instant.orNull,
      isFresh: boolean,
      takenAt: instant.orNull,
      now: instant,
    },
  },
)

/** Switches a webhook off whose maker or account is gone. */
export const disableWebhook = statement(
  'webhooks.disableWebhook',
  `update webhooks set status = 'disabled', failing_since = null, next_attempt_at = null, updated_at = $now
   where workspace_id = $workspaceId and id = $id and status <> 'disabled'`,
  { params: { workspaceId: uuid, id: uuid, now: instant } },
)
