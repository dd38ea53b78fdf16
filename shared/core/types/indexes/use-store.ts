import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { instant, integer, integers, texts, uuids } from '#shared/platform/db/statements/sql-types.ts'
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

/** The most rows that `deleteRarePairUses` deletes at once. */
export const rarePairBatch = 10_000

/**
 * Deletes the rarest uses of pairs of each type that has more than `thresholds.pairs.kept`, of those without an index. Rows that a count is
 * changing are skipped, so that neither waits for the other.
 */
export const deleteRarePairUses = statement(
  'types.deleteRarePairUses',
  `with crowded as materialized (
     select field.workspace_id, field.type_id
     from field_uses as used join fields as field on field.workspace_id = used.workspace_id and field.id = used.field_id
     where used.lead_field_id is not null
     group by field.workspace_id, field.type_id having count(*) > ${thresholds.pairs.kept}
   ),
   ranked as materialized (
     select used.workspace_id, used.field_id, used.use, row_number() over (
       partition by field.workspace_id, field.type_id
       order by exists (
         select from field_indexes as kept
         where kept.workspace_id = used.workspace_id and kept.field_id = used.field_id and kept.lead_field_id = used.lead_field_id
       ) desc, ${decayedScoreSql('used.score', 'used.used_at', '$now::timestamptz')} desc, used.used_at desc, used.field_id, used.use
     ) as place
     from crowded join fields as field on field.workspace_id = crowded.workspace_id and field.type_id = crowded.type_id
     join field_uses as used on used.workspace_id = field.workspace_id and used.field_id = field.id
     where used.lead_field_id is not null
   )
   delete from field_uses where ctid = any(array(
     select used.ctid from ranked
     join field_uses as used on used.workspace_id = ranked.workspace_id and used.field_id = ranked.field_id and used.use = ranked.use
     where ranked.place > ${thresholds.pairs.kept} limit ${rarePairBatch} for update of used skip locked
   ))
   returning 1 as gone`,
  { params: { now: instant }, columns: { gone: integer.notNull } },
)
