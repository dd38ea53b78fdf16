import type { Executor } from '#shared/platform/db/database.ts'
import { findHold } from '#shared/platform/db/restored/store.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

const help = 'Whether the database is a restored copy that sends no mail, charges and calls nobody: 1 or 0'

export const restoredMetrics: Metrics<Executor> = {
  addGauges: (registry, query) =>
    addGauge(registry, 'kontor_restored_copy_held', help, [], async () => {
      const found = await query((db) => db.query(findHold()), 'the mark of a restored copy')
      return found.map(({ is_held }) => ({ labels: {}, value: is_held ? 1 : 0 }))
    }),
}
