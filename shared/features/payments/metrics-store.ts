import type { LinkStatus } from '#shared/features/payments/links/schemas.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** Number of links with a status in all workspaces. */
export interface LinkCount {
  readonly status: LinkStatus
  readonly count: number
}

/** Number of links by status in all workspaces. Counts 100,000 links at most, so a scrape does not become slow with millions of links. */
export const countAllLinks = sql(
  'count_all_payment_links',
  `select status, count(*)::integer as count from (select status from payment_links limit 100000) as counted group by status order by status`,
)

/**
 * Seconds since a provider was last asked for events, for the connection that has waited longest; an unswept connection waits since its
 * creation.
 */
export interface SweepLag {
  readonly provider: string
  readonly seconds: number
}

/** The `SweepLag` of each provider with connections in any workspace. Values: time. */
export const findSweepLags = sql(
  'find_payment_sweep_lags',
  `select connection.provider, extract(epoch from $1 - min(coalesce(sweep.asked_until, connection.created_at)))::float8 as seconds
   from payment_connections as connection
   left join payment_sweeps as sweep on sweep.workspace_id = connection.workspace_id and sweep.connection_id = connection.id
   where connection.deleted_at is null
   group by connection.provider order by connection.provider`,
)
