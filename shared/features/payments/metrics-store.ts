import type { LinkStatus } from '#shared/features/payments/links/schemas.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** Links of the whole installation that stand somewhere. */
export interface LinkCount {
  readonly status: LinkStatus
  readonly count: number
}

/** How many links of all workspaces stand where, 100,000 at most: whoever scrapes waits no longer when there are millions. */
export const countAllLinks = sql(
  'count_all_payment_links',
  `select status, count(*)::integer as count from (select status from payment_links limit 100000) as counted group by status order by status`,
)

/** For how long the connection of a provider that has waited longest was not asked what happened, in seconds. */
export interface SweepLag {
  readonly provider: string
  readonly seconds: number
}

/** The providers that connections of all workspaces ask. Values: time. */
export const findSweepLags = sql(
  'find_payment_sweep_lags',
  `select connection.provider, extract(epoch from $1 - min(coalesce(sweep.asked_until, connection.created_at)))::float8 as seconds
   from payment_connections as connection
   left join payment_sweeps as sweep on sweep.workspace_id = connection.workspace_id and sweep.connection_id = connection.id
   where connection.deleted_at is null
   group by connection.provider order by connection.provider`,
)
