import { lowerCaseRaw } from '#shared/core/policy/conditions/letter-case.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { buildStatement, type Statement } from '#shared/platform/db/statements/statement.ts'

/** Builds an index while everybody reads and writes on; `definition` is what follows `on table`. */
export const createIndex = (schema: string, table: string, name: string, definition: Knex.Raw): Statement =>
  buildStatement(builder.raw('create index concurrently ?? on ??.?? ?', [name, schema, table, definition]))

/** Drops an index, if there is one, while everybody reads and writes on. */
export const dropIndexNamed = (schema: string, name: string): Statement =>
  buildStatement(builder.raw('drop index concurrently if exists ??.??', [schema, name]))

/** Takes the statistics of a table. */
export const analyzeTable = (schema: string, table: string): Statement => buildStatement(builder.raw('analyze ??.??', [schema, table]))

/** What part of a column is looked at. */
interface Sample {
  readonly characters: number
  /** Of the table's pages. */
  readonly percent: number
  /** Of the values on those. */
  readonly share: number
  readonly most: number
}

/** Beginnings of some values of a column, in small letters. */
export const sampleValues = (schema: string, table: string, column: string, { characters, percent, share, most }: Sample): Statement =>
  buildStatement(
    builder.raw('select ? as value from ??.?? tablesample system (?::real) where ?? is not null and random() < ? limit ?', [
      lowerCaseRaw(builder.raw('left(??, ?)', [column, characters])),
      schema,
      table,
      percent,
      column,
      share,
      most,
    ]),
  )
