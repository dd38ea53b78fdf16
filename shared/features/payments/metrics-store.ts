import type { LinkStatus } from '#shared/features/payments/links/schemas.ts'
import { double, instant, integer, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Number of links by status in all workspaces. Counts 100,000 links at most, so a scrape does not become slow with millions of links. */
export const countAllLinks = statement(
  'payments.countAllLinks',
  `select status, count(*)::integer as count from (select status from payment_links limit 100000) as counted group by status order by status`,
  { params: {}, columns: { status: text.as<LinkStatus>().notNull, count: integer.notNull } },
)

/**
 * Seconds since a provider was last asked for events, for the connection in any workspace that has waited longest; an unswept connection
 * waits since its creation.
 */
export const findSweepLags = statement(
  'payments.findSweepLags',
  `select connection.provider, extract(epoch from $now - min(coalesce(sweep.polled_until, connection.created_at)))::float8 as seconds
   from payment_connections as connection
   left join payment_sweeps as sweep on sweep.workspace_id = connection.workspace_id and sweep.connection_id = connection.id
   where connection.deleted_at is null
   group by connection.provider order by connection.provider`,
  { params: { now: instant }, columns: { provider: text.notNull, seconds: double.notNull } },
)
