import { double, integer } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { inboxDepth } from '#shared/platform/jobs/pgboss/counts/queue-depths.ts'

/** How many events of all workspaces have no number yet, up to 10,000, and the age of the oldest one in seconds; 0 for none. */
export const readInboxDepth = statement(
  'events.readInboxDepth',
  `select waiting, greatest(coalesce(extract(epoch from now() - since), 0), 0)::float8 as "oldestSeconds" from (${inboxDepth}) as inbox`,
  { params: {}, columns: { waiting: integer.notNull, oldestSeconds: double.notNull } },
)
