import { createHash } from 'node:crypto'
import type { Knex } from '#shared/platform/db/statements/builder.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { packParameters } from '#shared/platform/db/statements/pack-parameters.ts'

/** SQL text with its parameters; a named one is prepared once per connection. */
export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
  /** Rows come as arrays of their cells instead of objects by column. */
  readonly rows?: 'arrays'
  /** Bounds what the rows may take in memory (`readPage`). */
  readonly byteLimit?: ByteLimit
  /** Set where a second execution is harmless: work that has committed only such statements may be retried. */
  readonly repeatable?: true
  /** Set for heavy statements: the part of the request to name when the statement takes too long, such as `filter`. */
  readonly heavy?: string
}

/**
 * The statement with rows as arrays; no row may consist of nulls only. For rows of many columns: from 13 on, V8 keeps an object as a
 * dictionary, which is slow to fill and to read.
 */
export const asArrays = (statement: Statement): Statement => ({ ...statement, rows: 'arrays' })

/**
 * The statement as a heavy one, such as a text search, an aggregate or a report. A process runs the heavy statements of a workspace one at
 * a time, each for at most 5 s; a longer one throws VALIDATION_ERROR that names `named`. In a transaction it does not wait for other heavy
 * statements.
 */
export const asHeavy = (statement: Statement, named: string): Statement => ({ ...statement, heavy: named })

/** A placeholder in a prepared query; each call gives its value. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
export const slot = (name: string): Slot => new Slot(name)

/** Builds the statement of a knex query that runs once; for queries that run often use `prepareStatement`. */
export function buildStatement(query: Knex.QueryBuilder | Knex.Raw | Knex.SchemaBuilder): Statement {
  const native = (query as Knex.QueryBuilder).toSQL().toNative()
  const { text, bindings } = packParameters(native.sql, native.bindings)
  return { text, values: bindings }
}

/** Fills a prepared statement's slots. */
export type StatementTemplate = (slots?: Readonly<Record<string, unknown>>) => Statement

/**
 * Builds a knex query once; the returned function creates a statement from slot values. Building a query each time halves the throughput of
 * a hot route (design, The hot path). The prepared name is a digest of the text.
 */
export function prepareStatement(query: Knex.QueryBuilder | Knex.Raw): StatementTemplate {
  const native = query.toSQL().toNative()
  const { text, bindings } = packParameters(native.sql, native.bindings)
  const name = `k_${createHash('sha256').update(text).digest('base64url').slice(0, 40)}`
  return (slots = {}) => ({ text, name, values: bindings.map((binding) => (binding instanceof Slot ? slots[binding.name] : binding)) })
}

/** A statement in plain SQL, prepared under a name: `sql('find_role', 'select … where id = $1')(id)`. */
export function sql(name: string, text: string): (...values: unknown[]) => Statement {
  return (...given) => ({ text, name, values: given })
}

/**
 * The statement without a prepared name, planned for its values each time. A prepared statement may switch to a generic plan after some
 * runs and keeps it for the connection's lifetime, even after a new index (measured: text in a million records found in 500 ms instead of
 * 25).
 */
export const asUnprepared = ({ text, values: given = [] }: Statement): Statement => ({ text, values: given })
