import { createHash } from 'node:crypto'
import type { Knex } from '#shared/platform/db/statements/builder.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { requireFewParameters } from '#shared/platform/db/statements/parameter-limit.ts'
import type { Columns, Params, ParamsOf, RowOf } from '#shared/platform/db/statements/sql-types.ts'

/** SQL text with the values of its parameters; a named one is prepared once per connection. `Row` is the type of its rows. */
export interface Statement<Row = unknown> {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
  /** The declared columns of the rows; undefined where a statement returns none. */
  readonly columns?: Columns | undefined
  /** Rows come as arrays of their cells instead of objects by column. */
  readonly rows?: 'arrays'
  /** Receives the last cell of the first row. No row that the caller gets has the last column. */
  readonly takeLastCell?: TakeCell
  /** Bounds what the rows may take in memory (`readPage`). */
  readonly byteLimit?: ByteLimit
  /** Set where a second execution is harmless: work that has committed only such statements may be retried. */
  readonly repeatable?: true
  /** Set for statements that search (`asSearch`). */
  readonly search?: Search
  /** Set for the statement that limits the time of its transaction's later statements (`limitTransaction`). */
  readonly transactionMs?: number
  /** For the compiler only. */
  readonly row?: Row
}

/** Receives a cell as the database sends it. */
export type TakeCell = (cell: string | null) => void

/**
 * The statement with rows as arrays. For rows of many columns: from 13 on, V8 keeps an object as a
 * dictionary, which is slow to fill and to read.
 */
export const asArrays = ({ row: _, ...statement }: Statement): Statement<readonly unknown[]> => ({ ...statement, rows: 'arrays' })

/** What a search is asked for by its caller. */
interface Search {
  /** The part of the request to name when the search takes too long, such as `filter`; null where only rules of roles limit the rows. */
  readonly named: string | null
  /** Ids of the roles whose conditions limit the rows, for the log. */
  readonly roles: readonly string[]
}

/**
 * The statement as one that searches: by text or filters, under rules with conditions, or for an aggregate or a report. A process runs as
 * many searches of a workspace at once as the database has processors, and one while other workspaces use the database. A search ends
 * after 5 s, with a VALIDATION_ERROR that names `named` or the rules (`runSearch`).
 */
export const asSearch = <Row>(statement: Statement<Row>, named: string | null, roles: readonly string[] = []): Statement<Row> => ({
  ...statement,
  search: { named, roles },
})

/** The declaration of a statement: types of its parameters, and of its columns where it returns rows. */
interface Declaration<P extends Params, C extends Columns> {
  readonly params: P
  readonly columns?: C
}

/** A statement as it was declared, with `$1`, `$2` and so on for its parameters in the order of `params`. */
export interface DeclaredStatement extends Declaration<Params, Columns> {
  readonly name: string
  readonly text: string
}

const declared = new Map<string, DeclaredStatement>()

/** All statements that the loaded modules declare, for the test that prepares each. */
export const declaredStatements = (): readonly DeclaredStatement[] => [...declared.values()]

/** Makes a statement of values for its parameters. */
export type MakeStatement<P extends Params, C extends Columns> = (
  ...values: keyof P extends never ? [] : [values: ParamsOf<P>]
) => Statement<RowOf<C>>

/**
 * Declares a statement: `statement('payments.findLink', 'select id from payment_links where id = $id', {params: {id: uuid}, columns: {id:
 * uuid.notNull}})`. It is prepared under its name, which is that of the domain and of the constant. Throws when the module loads if the
 * text and `params` do not name the same parameters, or if the name is taken.
 */
export function statement<const P extends Params, const C extends Columns = Record<never, never>>(
  name: string,
  text: string,
  { params, columns }: Declaration<P, C>,
): MakeStatement<P, C> {
  const names = Object.keys(params)
  const numbered = numberParameters(name, text, names)
  const used = parametersIn(text)
  const unused = names.filter((one) => !used.has(one))
  if (unused.length > 0) throw new Error(`The text of ${name} does not name the parameters ${unused.join(', ')}`)
  if (declared.has(name)) throw new Error(`Two statements have the name ${name}`)
  declared.set(name, { name, text: numbered, params, ...(columns && { columns }) })
  return (...[values]) => ({ name, text: numbered, columns, values: valuesOf(names, values) })
}

/**
 * A statement whose text depends on the call, such as on the filters of a list. It is planned for its values each time. `params` declares
 * every parameter that the text may name; only those that it names need a value.
 */
export function composeStatement<const P extends Params, const C extends Columns = Record<never, never>>(
  text: string,
  { params, columns }: Declaration<P, C>,
  values: Partial<ParamsOf<P>>,
): Statement<RowOf<C>> {
  const used = parametersIn(text)
  const names = Object.keys(params).filter((name) => used.has(name))
  return { text: numberParameters('A composed statement', text, names), columns, values: valuesOf(names, values) }
}

const valuesOf = (names: readonly string[], values: Readonly<Record<string, unknown>> = {}): unknown[] => names.map((name) => values[name])

/** The names of the parameters in a text. */
const parametersIn = (text: string): ReadonlySet<string> => new Set(text.matchAll(/\$(\w+)/g).map(([, name = '']) => name))

/** Writes `$1` for the first of the names, and so on. Throws for a parameter that is not among them. */
function numberParameters(statementName: string, text: string, names: readonly string[]): string {
  const numbers = new Map(names.map((name, index) => [name, index + 1]))
  return text.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const number = numbers.get(name)
    if (number === undefined) throw new Error(`${statementName} names the parameter $${name}, which is not declared`)
    return `$${number}`
  })
}

/** A parameter's placeholder in a query for `prepareStatement`; each call gives its value. */
class Slot {
  readonly name: string
  /** So that a slot is a value to knex, which has no type for others' placeholders. */
  readonly [key: string]: unknown
  constructor(name: string) {
    this.name = name
  }
}
export const slot = (name: string): Slot => new Slot(name)

/** Builds the statement of a knex query that runs once; for queries that run often use `prepareStatement`. */
export function buildStatement<const C extends Columns = Record<never, never>>(
  query: Knex.QueryBuilder | Knex.Raw | Knex.SchemaBuilder,
  columns?: C,
): Statement<RowOf<C>> {
  const native = (query as Knex.QueryBuilder).toSQL().toNative()
  requireFewParameters(native.bindings)
  return { text: native.sql, values: native.bindings, columns }
}

/** A statement built once; call it with values for its parameters. `text` and `params` are for its cache and its test. */
export interface BuiltStatement<P extends Params, C extends Columns = Record<never, never>> extends MakeStatement<P, C> {
  readonly text: string
  readonly params: P
}

/**
 * Builds a knex query once, for statements that depend on a record type. `params` declares the query's slots. The prepared name is a digest
 * of the text. Throws if the query and `params` do not name the same parameters. Building a query at each call halves the throughput of a
 * hot route.
 */
export function prepareStatement<const P extends Params, const C extends Columns = Record<never, never>>(
  query: Knex.QueryBuilder | Knex.Raw,
  { params, columns }: Declaration<P, C>,
): BuiltStatement<P, C> {
  const native = query.toSQL().toNative()
  const { sql: text, bindings } = native
  requireFewParameters(bindings)
  requireSameParameters(text, bindings, params)
  const name = `k_${createHash('sha256').update(text).digest('base64url').slice(0, 40)}`
  const make = (values: Readonly<Record<string, unknown>> = {}): Statement<RowOf<C>> => ({
    text,
    name,
    columns,
    values: bindings.map((binding) => (binding instanceof Slot ? values[binding.name] : binding)),
  })
  return Object.assign(make, { text, params }) as BuiltStatement<P, C>
}

/** Throws unless the slots among the bindings are exactly the declared parameters. */
function requireSameParameters(text: string, bindings: readonly unknown[], params: Params): void {
  const used = new Set(bindings.flatMap((binding) => (binding instanceof Slot ? binding.name : [])))
  const undeclared = [...used].filter((name) => !Object.hasOwn(params, name))
  if (undeclared.length > 0) throw new Error(`A built statement has the slots ${undeclared.join(', ')}, which are not declared: ${text}`)
  const unused = Object.keys(params).filter((name) => !used.has(name))
  if (unused.length > 0) throw new Error(`A built statement has no slots for the parameters ${unused.join(', ')}: ${text}`)
}

/**
 * The statement without a prepared name, planned for its values each time. A prepared statement may switch to a generic plan after some
 * runs and keeps it for the connection's lifetime, even after a new index (docs/decisions/prepared-query.md).
 */
export const asUnprepared = <Row>({ text, values = [], columns }: Statement<Row>): Statement<Row> => ({ text, values, columns })
