import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const halfLifeSeconds = thresholds.halfLifeDays * 86_400

/**
 * SQL of what is left at `now` of a score that was stored at `usedAt`. The exponent is capped, since PostgreSQL raises an error for a power
 * that is too small to represent.
 */
export const decayedScoreSql = (score: string, usedAt: string, now: string): string =>
  `${score} * power(0.5, least(greatest(extract(epoch from ${now} - ${usedAt}), 0) / ${halfLifeSeconds}, 500)::double precision)`

// Writes rows in one order, so that concurrent processes cannot deadlock. The join drops the uses of fields that were deleted meanwhile.
const add = sql(
  'add_field_uses',
  `insert into field_uses as kept (workspace_id, field_id, use, score, used_at)
   select field.workspace_id, field.id, noted.use, noted.times, $5::timestamptz
   from unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[]) as noted (workspace_id, field_id, use, times)
   join fields as field on field.workspace_id = noted.workspace_id and field.id = noted.field_id
   order by field.workspace_id, field.id, noted.use
   on conflict (workspace_id, field_id, use) do update
   set score = ${decayedScoreSql('kept.score', 'kept.used_at', 'excluded.used_at')} + excluded.score,
     used_at = greatest(kept.used_at, excluded.used_at)`,
)

/** Adds counts, by `<workspace id> <field id> <use>`, to the stored scores in one statement. */
export async function addUses(db: Executor, counts: ReadonlyMap<string, number>, now: Date): Promise<void> {
  const noted = [...counts].map(([key, times]) => [...key.split(' '), times])
  const column = (index: number) => noted.map((one) => one[index])
  await db.query(add(column(0), column(1), column(2), column(3), now))
}
