import { bigint, instant, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const failing = (condition: string) => `select workspace_id, id, failing_since as since from webhooks
  where failing_since <= $before and ${condition} order by failing_since, workspace_id, id limit $limit for no key update skip locked`

const columns = { workspace_id: uuid.notNull, id: uuid.notNull, url: text.notNull, since: instant }

/** Notes of webhooks that have been failing since a time that people are told of it, once, and returns them. */
export const findFailingWebhooks = statement(
  'webhooks.findFailingWebhooks',
  `with failing as (${failing('not is_failure_reported')})
   update webhooks as webhook set is_failure_reported = true from failing
   where webhook.workspace_id = failing.workspace_id and webhook.id = failing.id
   returning webhook.workspace_id, webhook.id, webhook.url, failing.since`,
  { params: { before: instant, limit: bigint }, columns },
)

/** Switches off webhooks that have been failing since a time, and returns them. */
export const endFailingWebhooks = statement(
  'webhooks.endFailingWebhooks',
  `with failing as (${failing('true')})
   update webhooks as webhook set status = 'disabled', failing_since = null, next_attempt_at = null, updated_at = $now from failing
   where webhook.workspace_id = failing.workspace_id and webhook.id = failing.id
   returning webhook.workspace_id, webhook.id, webhook.url, failing.since`,
  { params: { before: instant, now: instant, limit: bigint }, columns },
)

/** Lets webhooks be enqueued again whose job was enqueued before a time and has not begun: it may have been lost. */
export const releaseLostJobs = statement('webhooks.releaseLostJobs', 'update webhooks set queued_at = null where queued_at < $before', {
  params: { before: instant },
})
