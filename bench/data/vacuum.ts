import type { Pipeline } from '#bench/data/pipeline.ts'
import { vacuumAfter } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Whether a type's table is being vacuumed or has changed enough for it; PostgreSQL checks once a minute. */
export async function awaitsVacuum(db: Executor, { schema, key }: Pick<Pipeline, 'schema' | 'key'>): Promise<boolean> {
  const [row] = await db.query<{ due: boolean }>({
    text: `select greatest(n_dead_tup, n_ins_since_vacuum) > $3::int + $4::float8 * reltuples as due
      from pg_stat_user_tables join pg_class on oid = relid where schemaname = $1 and pg_stat_user_tables.relname = $2`,
    values: [schema, key, vacuumAfter.changes, vacuumAfter.share],
  })
  return row?.due ?? false
}
