import {
  boolean,
  booleans,
  date,
  dates,
  instant,
  instants,
  numeric,
  numerics,
  type OpenSqlType,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'

/** The SQL types of fields' columns, by the type that the definition of the table names. */
const columnTypes = {
  text,
  boolean,
  date,
  uuid,
  timestamptz: instant,
  'numeric(20,6)': numeric,
  'text[]': texts,
  'uuid[]': uuids,
} as const

/** A PostgreSQL type of a field's column. */
export type ColumnType = keyof typeof columnTypes

/** The SQL type of a column, for the declarations of statements. */
export const sqlTypeOf = (column: ColumnType): OpenSqlType<unknown, unknown> => columnTypes[column]

const listTypes = {
  text: texts,
  boolean: booleans,
  date: dates,
  uuid: uuids,
  timestamptz: instants,
  'numeric(20,6)': numerics,
} as const

/** The SQL type of a list of a column's values; a column that holds lists itself has none. */
export const listTypeOf = (column: ColumnType): OpenSqlType<unknown, unknown> | undefined =>
  column in listTypes ? listTypes[column as keyof typeof listTypes] : undefined
