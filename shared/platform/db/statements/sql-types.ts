/**
 * A type of PostgreSQL, for parameters and columns of statements. `Row` is what a column gives, `Param` what a parameter takes; both exist
 * for the compiler only. A parameter refuses null unless it is declared `orNull`; a column may be null unless it is declared `notNull`.
 */
export interface SqlType<Row, Param> {
  /** The name as `format_type` of PostgreSQL writes it, such as `timestamp with time zone`. */
  readonly sqlName: string
  readonly isNotNull: boolean
  readonly row?: Row
  readonly param?: Param
}

/** A type that can be declared `notNull` as a column, `orNull` as a parameter, and `as` a narrower type of TypeScript. */
export interface OpenSqlType<Value, Param> extends SqlType<Value | null, Param> {
  /** A column without nulls. The tests compare it with the catalogue and with every row that they read. */
  readonly notNull: SqlType<Value, Param>
  /** A parameter that may be null; undefined becomes null. */
  readonly orNull: SqlType<Value | null, Param | null | undefined>
}

/** A text type, whose values may be narrowed to a union for columns and parameters. */
interface TextType extends OpenSqlType<string, string> {
  as<Value extends string>(): OpenSqlType<Value, Value>
}

/** A JSON type. A column gives the parsed value, exact numbers included; a parameter takes JSON text. */
interface JsonType extends OpenSqlType<unknown, string> {
  as<Value>(): OpenSqlType<Value, string>
}

function openType<Value, Param = Value>(sqlName: string): OpenSqlType<Value, Param> {
  const nullable = { sqlName, isNotNull: false }
  return Object.freeze({ ...nullable, notNull: Object.freeze({ sqlName, isNotNull: true }), orNull: Object.freeze(nullable) })
}

/** `as` changes the type for the compiler only. */
const narrowable = <Type extends object>(type: Type) => Object.freeze({ ...type, as: () => type as never })

export const uuid = openType<string>('uuid')
export const text: TextType = narrowable(openType<string>('text'))
export const boolean = openType<boolean>('boolean')
export const smallint = openType<number>('smallint')
export const integer = openType<number>('integer')
/** Becomes a JavaScript number, so it is for counts and sizes. The type of a parameter of `limit` and `offset`. */
export const bigint = openType<number>('bigint')
export const double = openType<number>('double precision')
/** Exact decimal text. */
export const numeric = openType<string, string | number>('numeric')
/** `2026-11-21`. */
export const date = openType<string>('date')
/** `timestamptz`: a column gives RFC 3339 text with microseconds (docs/contract/conventions.md#instants). */
export const instant = openType<string, string | Date>('timestamp with time zone')
/** A local time without a zone, such as `2026-11-21T08:00:00`. */
export const localTime = openType<string>('timestamp without time zone')
/** The type of PostgreSQL's own names, such as those of schemas. */
export const identifier = openType<string>('name')
/** The result of a function that returns nothing, such as `pg_advisory_xact_lock`; it reads as an empty text. */
export const nothing = openType<string>('void')
export const json: JsonType = narrowable(openType<unknown, string>('json'))
export const jsonb: JsonType = narrowable(openType<unknown, string>('jsonb'))
export const bytes = openType<Buffer, Uint8Array>('bytea')
export const uuids = openType<string[], readonly (string | null)[]>('uuid[]')
export const texts = openType<string[], readonly (string | null)[]>('text[]')
/** JSON texts. A column of this type cannot be read: the driver would return the elements as text. */
export const jsonbs = openType<never, readonly string[]>('jsonb[]')
export const booleans = openType<boolean[], readonly boolean[]>('boolean[]')
export const integers = openType<number[], readonly number[]>('integer[]')
/** A column of this type cannot be read: the driver would read the elements as binary floats. */
/** A column of this type cannot be read: the driver would return the elements as text. */
export const bigints = openType<never, readonly number[]>('bigint[]')
export const numerics = openType<never, readonly string[]>('numeric[]')
export const dates = openType<never, readonly string[]>('date[]')
export const instants = openType<never, readonly (string | Date)[]>('timestamp with time zone[]')
/** Texts such as `3600 seconds`. */
export const intervals = openType<never, readonly string[]>('interval[]')

/** The parameters of a statement by name. */
export type Params = Readonly<Record<string, SqlType<unknown, unknown>>>

/** The columns of a statement's rows, in order. */
export type Columns = Readonly<Record<string, SqlType<unknown, unknown>>>

/** What a call gives for parameters. */
export type ParamsOf<Declared> = { readonly [Name in keyof Declared]: Declared[Name] extends SqlType<infer _, infer Param> ? Param : never }

/** The row of columns. */
export type RowOf<Declared> = { readonly [Name in keyof Declared]: Declared[Name] extends SqlType<infer Row, infer _> ? Row : never }

/**
 * The select list of columns that are named as in the table; `of` is the table or its alias. `expressions` holds the SQL of columns that
 * are computed.
 */
export const selectList = (columns: Columns, of?: string, expressions: Readonly<Record<string, string>> = {}): string =>
  Object.keys(columns)
    .map((name) => {
      const expression = expressions[name]
      if (expression !== undefined) return `${expression} as ${name}`
      return of === undefined ? name : `${of}.${name}`
    })
    .join(', ')
