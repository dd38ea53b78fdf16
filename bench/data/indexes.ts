import type { Pipeline } from '#bench/data/pipeline.ts'
import type { Executor } from '#shared/db/database.ts'

/** Types that are smaller are searched without indexes: reading them whole is quick. */
const smallest = 50_000

/** Makes the indexes that a grown type gets for the fields that its searches use, and lets PostgreSQL learn what the tables hold. */
export async function makeIndexes(db: Executor, { schema, key, columns, records }: Pipeline): Promise<void> {
  const table = `"${schema}"."${key}"`
  if (records >= smallest) {
    for (const column of [columns.stage, columns.amount, columns.due]) {
      await db.query({ text: `create index on ${table} ("${column}", id)` })
    }
    for (const column of [columns.name, columns.notes]) {
      await db.query({ text: `create index on ${table} using gin ("${column}" gin_trgm_ops)` })
    }
  }
  await db.query({ text: `vacuum analyze ${table}` })
}
