import { lowerCaseSql } from '#shared/core/policy/conditions/letter-case.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { text } from '#shared/platform/db/statements/sql-types.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'

/** Builds an index without blocking reads and writes; `definition` is what follows `on table`. */
export const createIndex = (schema: string, table: string, name: string, definition: Knex.Raw) =>
  buildStatement(builder.raw('create index concurrently ?? on ??.?? ?', [name, schema, table, definition]))

/** Drops an index, if it exists, without blocking reads and writes. */
export const dropIndexNamed = (schema: string, name: string) =>
  buildStatement(builder.raw('drop index concurrently if exists ??.??', [schema, name]))

/** Updates PostgreSQL's statistics of a table. */
export const analyzeTable = (schema: string, table: string) => buildStatement(builder.raw('analyze ??.??', [schema, table]))

/** The part of a column's values that is read. */
interface Sample {
  readonly characters: number
  /** Percentage of the table's pages that are read. */
  readonly percent: number
  /** Share, 0 to 1, of the values on these pages that are taken. */
  readonly share: number
  readonly most: number
}

/** The first `characters` of a random sample of a column's values, in lower case; at most `most` values. */
export const sampleValues = (schema: string, table: string, column: string, { characters, percent, share, most }: Sample) =>
  buildStatement(
    builder.raw(
      `select ${lowerCaseSql('left(??, ?)')} as value from ??.?? tablesample system (?::real) where ?? is not null and random() < ? limit ?`,
      [column, characters, schema, table, percent, column, share, most],
    ),
    { value: text },
  )
