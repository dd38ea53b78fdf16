import type { Pipeline } from '#bench/data/pipeline.ts'
import { type IndexKindName, indexKinds } from '#shared/core/types/indexes/index-kinds.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'

/** Smaller types are searched without indexes: reading them whole is fast. */
const smallest = 50_000

/** The indexes for the fields that the cases search by. */
const wanted: readonly (readonly [field: keyof Pipeline['columns'], kind: IndexKindName])[] = [
  ['stage', 'value'],
  ['amount', 'value'],
  ['due', 'ascending'],
  ['name', 'trigram'],
  ['notes', 'trigram'],
]

const nameOf = (field: string, kind: string): string => `bench_${kind}_${field}`

/** Makes the indexes of a grown type for these fields, and updates PostgreSQL's statistics. */
export async function makeIndexes(db: Executor, { schema, key, columns, records }: Pipeline): Promise<void> {
  for (const [field, kind] of records >= smallest ? wanted : []) {
    const definition = indexKinds[kind].definition(columns[field])
    await db.query(
      buildStatement(builder.raw('create index ?? on ??.?? ?', [`${nameOf(field, kind)}_${records}`, schema, key, definition])),
    )
  }
  await db.query({ text: `vacuum analyze "${schema}"."${key}"` })
}

/** Removes the indexes of `makeIndexes`, for cases that measure how Kontor makes its own. */
export async function dropIndexes(db: Executor, { schema, records }: Pipeline): Promise<void> {
  for (const [field, kind] of wanted) {
    await db.query(buildStatement(builder.raw('drop index if exists ??.??', [schema, `${nameOf(field, kind)}_${records}`])))
  }
  await db.query({ text: 'delete from field_uses' })
}
