import type pg from 'pg'
import { type ByteLimit, firstFetchRows, isRowKept, nextFetchRows, resetByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { createColumns, noColumns, type RowColumns, readRowAsArray, readRowAsObject } from '#shared/platform/db/statements/row-columns.ts'
import { findParser } from '#shared/platform/db/statements/value-parsers.ts'

/** What to run. */
interface Given {
  /** What it is prepared under; '' for a statement that is parsed and planned each time. */
  readonly name: string
  readonly text: string
  /** As the driver writes them: texts, bytes and nulls. */
  readonly values: readonly (string | Buffer | null)[]
  readonly asArrays: boolean
  readonly fit?: ByteLimit | undefined
  /** Opens a transaction before it, or commits the open one behind it, in the same round trip. What fails keeps what comes behind it from being done. */
  readonly opens?: boolean | undefined
  readonly commits?: boolean | undefined
}

/** A statement that a connection has prepared. */
interface PreparedStatement {
  readonly columns: RowColumns
  /** Characters of its text. */
  readonly length: number
  /** Which run of the connection used it last. */
  usedAt: number
}

/** What a connection has prepared, by name, and how long all its texts are. */
interface Prepared {
  readonly statements: Map<string, PreparedStatement>
  length: number
  runs: number
}

/** What the driver's connection sends (pg-protocol), as far as a prepared statement needs it. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  /** Texts by the names of statements that this connection has prepared, or is about to. */
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
  parse(message: { readonly name: string; readonly text: string }): void
  close(message: { readonly type: 'S'; readonly name: string }): void
  bind(message: { readonly statement: string; readonly values: readonly unknown[] }): void
  describe(message: { readonly type: 'P' }): void
  execute(message: { readonly rows?: number }): void
  flush(): void
  sync(): void
}

/** A connection's prepared statement never changes its columns: PostgreSQL refuses to run it instead (0A000). */
const known = new WeakMap<Wire, Prepared>()

/**
 * Characters of text that a connection keeps prepared. PostgreSQL keeps some 30 to 60 bytes for each, so this is 15 to 30 MB; all
 * statements of the code's own together have less than half of it.
 */
export const maxPreparedLength = 500_000

/**
 * One run of a statement with parameters, as a query of our own for the driver (its Submittable, as of pg-cursor). The driver's own asks the
 * database with every run which columns the rows have, and reads the same answer again: for a get by id that takes longer than the row.
 * Here a connection asks once (measured: 1.2 times as many gets a second).
 */
export class PreparedQuery<Row> implements pg.Submittable {
  readonly name: string
  readonly text: string
  readonly #values: Given['values']
  readonly #asArrays: boolean
  readonly #fit: ByteLimit | undefined
  #wire: Wire | undefined
  readonly #opens: boolean
  readonly #commits: boolean
  /** Commands of which the database has not said yet that they are done. */
  #answers: number
  readonly #resolve: (rows: Row[]) => void
  readonly #reject: (error: unknown) => void
  readonly #rows: Row[] = []
  #columns: RowColumns | undefined
  /** Keeps the columns for the connection's next runs. */
  #keep: ((columns: RowColumns) => void) | undefined
  #failure: unknown

  constructor(
    { name, text, values, asArrays, fit, opens = false, commits = false }: Given,
    resolve: (rows: Row[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.name = name
    this.text = text
    this.#values = values
    this.#asArrays = asArrays
    this.#fit = fit
    if (fit) resetByteLimit(fit)
    this.#opens = opens
    this.#commits = commits
    this.#answers = 1 + Number(opens) + Number(commits)
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Called by the driver when it is this one's turn. An error that is given back ends the run, and nothing was sent. */
  submit(connection: unknown): Error | undefined {
    const wire = connection as Wire
    const { name, text } = this
    this.#wire = wire
    const prepared = name === '' ? undefined : (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name])
    if (prepared !== undefined && prepared !== text) return new Error(`The statement ${name} is prepared with another text`)
    wire.stream.cork()
    try {
      if (name !== '') this.#findColumns(wire, prepared !== undefined)
      // The driver takes the first answer to a parse for that of the named statement.
      if (prepared === undefined && name !== '') {
        wire.parse({ name, text })
        wire.submittedNamedStatements[name] = text
      }
      if (this.#opens) command(wire, 'begin')
      if (name === '') wire.parse({ name, text })
      wire.bind({ statement: name, values: this.#values })
      if (this.#columns === undefined) wire.describe({ type: 'P' })
      wire.execute(this.#fit ? { rows: firstFetchRows } : {})
      if (this.#fit) wire.flush()
      else {
        if (this.#commits) command(wire, 'commit')
        wire.sync()
      }
    } finally {
      wire.stream.uncork()
    }
    return undefined
  }

  /** Finds the columns, or a place for them. Of more text than a connection keeps, the statements that have rested longest make room. */
  #findColumns(wire: Wire, isPrepared: boolean): void {
    const prepared = preparedOn(wire)
    prepared.runs += 1
    const found = isPrepared ? prepared.statements.get(this.name) : undefined
    if (found) {
      found.usedAt = prepared.runs
      this.#columns = found.columns
      return
    }
    this.#keep = (columns) => {
      if (!prepared.statements.has(this.name)) prepared.length += this.text.length
      prepared.statements.set(this.name, { columns, length: this.text.length, usedAt: prepared.runs })
    }
    if (isPrepared) return
    while (prepared.statements.size > 0 && prepared.length + this.text.length > maxPreparedLength) {
      const rested = longestRested(prepared)
      wire.close({ type: 'S', name: rested })
      prepared.length -= prepared.statements.get(rested)?.length ?? 0
      prepared.statements.delete(rested)
      delete wire.parsedStatements[rested]
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] }): void {
    this.#columns = createColumns(
      fields.map(({ name }) => name),
      fields.map(({ dataTypeID }) => findParser(dataTypeID)),
    )
    this.#keep?.(this.#columns)
  }

  handleDataRow({ fields, length }: { readonly fields: readonly (string | null)[]; readonly length: number }): void {
    if (this.#failure !== undefined) return
    if (this.#fit && !isRowKept(this.#fit, length)) return
    const columns = this.#columns ?? noColumns
    try {
      this.#rows.push((this.#asArrays ? readRowAsArray(columns, fields) : readRowAsObject(columns, fields)) as Row)
    } catch (error) {
      this.#failure = error
    }
  }

  handleCommandComplete(): void {
    this.#answers -= 1
    if (this.#fit && this.#answers === 0) this.#wire?.sync()
    // What gives no rows has no columns, and need not be asked either.
    if (this.#answers === Number(this.#commits) && this.#columns === undefined) this.#keep?.(noColumns)
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#rows)
    else this.#reject(this.#failure)
  }

  handleError(error: unknown): void {
    // An error of the connection has no severity, and nothing can be sent any more.
    if (this.#fit && (error as { severity?: string }).severity !== undefined) this.#wire?.sync()
    this.#reject(error)
  }

  /** Some rows of a bounded run have come: it asks for more as long as they fit, so the database reads none that would be dropped. */
  handlePortalSuspended(): void {
    const rows = this.#fit ? nextFetchRows(this.#fit, this.#rows.length) : 0
    if (rows === 0) this.#wire?.sync()
    else {
      this.#wire?.execute({ rows })
      this.#wire?.flush()
    }
  }

  /** Never comes of what is run here: texts are never empty. */
  handleEmptyQuery(): void {}
}

/** A statement that has neither values nor rows. */
function command(wire: Wire, text: string): void {
  wire.parse({ name: '', text })
  wire.bind({ statement: '', values: [] })
  wire.execute({})
}

function preparedOn(wire: Wire): Prepared {
  const found = known.get(wire)
  if (found) return found
  const made = { statements: new Map<string, PreparedStatement>(), length: 0, runs: 0 }
  known.set(wire, made)
  return made
}

// A map that keeps the order of use by itself, each run taking its entry out and in again, would be laid anew every few runs, and V8 keeps
// what such a map pointed to until old memory is swept: a third of the searches a second.
function longestRested({ statements }: Prepared): string {
  let [name, usedAt] = ['', Number.POSITIVE_INFINITY]
  for (const [candidate, used] of statements) if (used.usedAt < usedAt) [name, usedAt] = [candidate, used.usedAt]
  return name
}
