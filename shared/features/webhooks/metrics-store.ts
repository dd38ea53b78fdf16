import { double, instant, integer, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Number of webhooks in all workspaces by each status. */
export const countWebhooks = statement(
  'webhooks.countWebhooks',
  `select status, count(webhooks.id)::integer as count
   from unnest(array['active', 'failing', 'disabled']) as status left join webhooks using (status) group by status order by status`,
  { params: {}, columns: { status: text.notNull, count: integer.notNull } },
)

/** Seconds that the first try of a delivery waits, in any workspace that is not suspended, for the one that waits longest; 0 for none. */
export const findOldestWaiting = statement(
  'webhooks.findOldestWaiting',
  `select coalesce(extract(epoch from $now - min(oldest.at)), 0)::float8 as seconds
   from webhooks as webhook
   join workspaces as workspace on workspace.id = webhook.workspace_id and workspace.status = 'active'
   cross join lateral (
     select next_attempt_at as at from webhook_deliveries as delivery
     where delivery.workspace_id = webhook.workspace_id and delivery.webhook_id = webhook.id and delivery.status = 'waiting' and tries = 0
     order by event_seq limit 1
   ) as oldest
   where webhook.status <> 'disabled'`,
  { params: { now: instant }, columns: { seconds: double.notNull } },
)

/** The most deliveries that a look at the last ones reads: it costs the same, however many there are. */
export const maxRecent = 10_000

/** Number of the newest deliveries since a time by each status, in all workspaces, of `maxRecent` at most. */
export const countRecentDeliveries = statement(
  'webhooks.countRecentDeliveries',
  `select status, count(created_at)::integer as count
   from unnest(array['waiting', 'delivered', 'failed']) as status left join (
     select status, created_at from webhook_deliveries where created_at > $since order by created_at desc limit ${maxRecent}
   ) as recent using (status)
   group by status order by status`,
  { params: { since: instant }, columns: { status: text.notNull, count: integer.notNull } },
)
