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
  /** Committed and then done again, it does no harm: work that has committed nothing else may be retried. */
  readonly repeatable?: true
  /** What of the question is to blame when the statement takes too long, such as `filter`; set for heavy statements. */
  readonly heavy?: string
}

/**
 * The same statement with rows as arrays, none of which may hold nulls alone. Rows of many columns are read so: from 13 on, V8 keeps an
 * object that the driver fills as a dictionary, which is slow to fill and to read.
 */
export const asArrays = (statement: Statement): Statement => ({ ...statement, rows: 'arrays' })

/**
 * The same statement as a heavy one, such as a search by text, an aggregate or a report: those of a workspace run one at a time in a process
 * and for 5 s at most. Beyond that the failure is VALIDATION_ERROR that says what is `named`; a transaction waits for no turn.
 */
export const asHeavy = (statement: Statement, named: string): Statement => ({ ...statement, heavy: named })

/** A place in a built query that a call fills in later. */
export class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
export const slot = (name: string): Slot => new Slot(name)

/** Builds the statement of a knex query that runs once; for hot shapes use `prepare`. */
export function buildStatement(query: Knex.QueryBuilder | Knex.Raw | Knex.SchemaBuilder): Statement {
  const native = (query as Knex.QueryBuilder).toSQL().toNative()
  const { text, bindings } = packParameters(native.sql, native.bindings)
  return { text, values: bindings }
}

/** Fills a prepared statement's slots. */
export type StatementTemplate = (slots?: Readonly<Record<string, unknown>>) => Statement

/**
 * Builds a knex query once and keeps its text: the result makes a statement of given slots without building again. knex building each
 * time halves the throughput of a hot route (design, The hot path). It is prepared under a name made of its text.
 */
export function prepareStatement(query: Knex.QueryBuilder | Knex.Raw): StatementTemplate {
  const native = query.toSQL().toNative()
  const { text, bindings } = packParameters(native.sql, native.bindings)
  const name = `k_${createHash('sha256').update(text).digest('base64url').slice(0, 40)}`
  return (slots = {}) => ({ text, name, values: bindings.map((binding) => (binding instanceof Slot ? slots[binding.name] : binding)) })
}

/** A statement written out as SQL, prepared under a name: `sql('find_role', 'select … where id = $1')(id)`. */
export function sql(name: string, text: string): (...values: unknown[]) => Statement {
  return (...given) => ({ text, name, values: given })
}

/**
 * The statement planned for its values each time. A prepared one settles on a plan for any values after some runs and keeps it as long as
 * the connection lasts, also when an index has come since (measured: text in a million records found in 500 ms instead of 25).
 */
export const asUnprepared = ({ text, values: given = [] }: Statement): Statement => ({ text, values: given })
