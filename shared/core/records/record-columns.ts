import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { listTypeOf, sqlTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { type Columns, instant, type OpenSqlType, type Params, uuid } from '#shared/platform/db/statements/sql-types.ts'

/** The columns that every record table has. */
export const ownColumns = { id: uuid.notNull, created_by: uuid, created_at: instant.notNull, updated_at: instant.notNull } as const

/** The columns of the fields' values, as a statement that selects them declares them. */
export const valueColumns = (fields: readonly Field[]): Columns => Object.fromEntries(fields.flatMap(typedColumnsOf))

/** The parameters of the fields' values, named like their columns. */
export const valueParams = (fields: readonly Field[]): Params =>
  Object.fromEntries(fields.flatMap(typedColumnsOf).map(([column, type]) => [column, type.orNull]))

/** Lists of a field's values as parameters, named like its columns. Throws for a field whose values are lists themselves. */
export const valueListParams = (field: Field): Params =>
  Object.fromEntries(
    fieldKinds[field.type].columns.map((type, index) => {
      const list = listTypeOf(type)
      if (!list) throw new Error(`${type} has no type of lists`)
      return [valueColumnsOf(field)[index] ?? '', list]
    }),
  )

const typedColumnsOf = (field: Field): [column: string, type: OpenSqlType<unknown, unknown>][] =>
  fieldKinds[field.type].columns.map((type, index) => [valueColumnsOf(field)[index] ?? '', sqlTypeOf(type)])

/** All columns of a type's table, in the order of its fields, as a statement that selects them declares them. */
export const recordColumns = memoizeByObject((type: RecordType): typeof ownColumns & Columns => ({
  ...ownColumns,
  ...valueColumns(type.fields),
}))

/** The names of `recordColumns`. */
export const recordColumnNames = (type: RecordType): readonly string[] => Object.keys(recordColumns(type))
