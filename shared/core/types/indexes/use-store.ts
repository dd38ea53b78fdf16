import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { instant, integers, texts, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const halfLifeSeconds = thresholds.halfLifeDays * 86_400

/**
 * SQL of the remainder at `now` of a score that was stored at `usedAt`. The exponent is capped, since PostgreSQL raises an error for a power
 * that is too small to represent.
 */
export const decayedScoreSql = (score: string, usedAt: string, now: string): string =>
  `${score} * power(0.5, least(greatest(extract(epoch from ${now} - ${usedAt}), 0) / ${halfLifeSeconds}, 500)::double precision)`

// Writes rows in one order, so that concurrent processes cannot deadlock. The join drops the uses of fields that were deleted meanwhile.
const addCountedUses = statement(
  'types.addCountedUses',
  `insert into field_uses as kept (workspace_id, field_id, use, score, used_at)
   select field.workspace_id, field.id, noted.use, noted.times, $now::timestamptz
   from unnest($workspaceIds::uuid[], $fieldIds::uuid[], $uses::text[], $times::integer[]) as noted (workspace_id, field_id, use, times)
   join fields as field on field.workspace_id = noted.workspace_id and field.id = noted.field_id
   order by field.workspace_id, field.id, noted.use
   on conflict (workspace_id, field_id, use) do update
   set score = ${decayedScoreSql('kept.score', 'kept.used_at', 'excluded.used_at')} + excluded.score,
     used_at = greatest(kept.used_at, excluded.used_at)`,
  { params: { workspaceIds: uuids, fieldIds: uuids, uses: texts, times: integers, now: instant } },
)

/** Adds counts, by `<workspace id> <field id> <use>`, to the stored scores in one statement. */
export async function addUses(db: Executor, counts: ReadonlyMap<string, number>, now: Date): Promise<void> {
  const keys = [...counts.keys()].map((key) => key.split(' '))
  const part = (index: number) => keys.map((parts) => parts[index] ?? '')
  await db.query(addCountedUses({ workspaceIds: part(0), fieldIds: part(1), uses: part(2), times: [...counts.values()], now }))
}
