import { setTimeout as delay } from 'node:timers/promises'
import { withClient } from '#bench/servers/connection.ts'

const timeoutMs = 120_000

/** Waits until no operation, job or event is open. Returns the seconds; throws after two minutes. */
export function drain(databaseUrl: string): Promise<number> {
  const started = performance.now()
  return withClient(databaseUrl, async (db) => {
    for (;;) {
      const { rows } = await db.query<{ what: string; count: number }>(`
        select * from (
          select 'operations' as what, count(*)::integer as count from operations where finished_at is null
          union all select 'jobs', count(*)::integer from pgboss.job where state in ('created', 'retry', 'active')
          union all select 'events', count(*)::integer from event_inbox
          union all select 'deliveries', count(*)::integer from waiting_deliveries
        ) as open where count > 0`)
      const elapsed = performance.now() - started
      if (rows.length === 0) return elapsed / 1_000
      if (elapsed > timeoutMs) throw new Error(`Still under way: ${rows.map(({ what, count }) => `${count} ${what}`).join(', ')}`)
      await delay(100)
    }
  })
}
