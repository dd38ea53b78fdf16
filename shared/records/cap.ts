import { sql } from '#shared/db/statement.ts'
import { problem } from '#shared/kernel/errors.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

const lock = sql('lock_record_cap', `select pg_advisory_xact_lock(hashtextextended('records ' || $1, 0))`)
const count = sql('count_records', 'select coalesce(sum(records), 0)::bigint as records from record_counts where workspace_id = $1')

/**
 * Does work that adds records. In a workspace of the free plan it waits for its turn and throws LIMIT_EXCEEDED when the cap leaves no room
 * (decisions, Free plan), so that creations at once stay within it; paid plans are never blocked.
 */
export async function withRoom<T>(scope: Scope, adds: number, work: (scope: Scope) => Promise<T>): Promise<T> {
  if (scope.workspace.plan === 'paid') return work(scope)
  return scope.db.transaction(async (tx) => {
    await tx.query(lock(scope.workspace.id))
    const [row] = await tx.query<{ records: number }>(count(scope.workspace.id))
    const cap = scope.config.freePlan.records
    if ((row?.records ?? 0) + adds > cap) throw problem('LIMIT_EXCEEDED', `The free plan holds at most ${cap} records`)
    return work(within(scope, tx))
  })
}
