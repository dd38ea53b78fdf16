import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { instant, integers, texts, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const halfLifeSeconds = thresholds.halfLifeDays * 86_400

/**
 * SQL for what is left at `now` of a score that was stored at `usedAt`; all three parameters are SQL. The exponent is at most 500, since
 * PostgreSQL raises an error for a power that is too small to represent.
 */
export const decayedScoreSql = (score: string, usedAt: string, now: string): string =>
  `${score} * power(0.5, least(greatest(extract(epoch from ${now} - ${usedAt}), 0) / ${halfLifeSeconds}, 500)::double precision)`

/** SQL for the id of the field that leads a pair, from its stored form (`storedPairName`); null of what is no pair. */
export const leadIdSql = (stored: string): string => `nullif(split_part(${stored}, ':', 2), '')::uuid`

// All processes write the rows in the same order, so that they cannot deadlock. The joins drop uses of fields that were deleted meanwhile.
const addCountedUses = statement(
  'types.addCountedUses',
  `insert into field_uses as stored (workspace_id, field_id, use, score, used_at)
   select field.workspace_id, field.id, counted.use, counted.uses, $now::timestamptz
   from unnest($workspaceIds::uuid[], $fieldIds::uuid[], $uses::text[], $counts::integer[]) as counted (workspace_id, field_id, use, uses)
   join fields as field on field.workspace_id = counted.workspace_id and field.id = counted.field_id
   left join fields as lead on lead.workspace_id = counted.workspace_id and lead.id = ${leadIdSql('counted.use')}
   where lead.id is not null or ${leadIdSql('counted.use')} is null
   order by field.workspace_id, field.id, counted.use
   on conflict (workspace_id, field_id, use) do update
   set score = ${decayedScoreSql('stored.score', 'stored.used_at', 'excluded.used_at')} + excluded.score,
     used_at = greatest(stored.used_at, excluded.used_at)`,
  { params: { workspaceIds: uuids, fieldIds: uuids, uses: texts, counts: integers, now: instant } },
)

/** Adds numbers of uses to the stored scores, in one statement. A key of `counts` is `<workspace id> <field id> <use>`. */
export async function addUses(db: Executor, counts: ReadonlyMap<string, number>, now: Date): Promise<void> {
  const keys = [...counts.keys()].map((key) => key.split(' '))
  const column = (index: number) => keys.map((words) => words[index] ?? '')
  await db.query(addCountedUses({ workspaceIds: column(0), fieldIds: column(1), uses: column(2), counts: [...counts.values()], now }))
}
