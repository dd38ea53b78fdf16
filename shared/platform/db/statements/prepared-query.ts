import type pg from 'pg'
import { type ByteLimit, firstFetchRows, isRowKept, nextFetchRows, resetByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import type { Wire } from '#shared/platform/db/statements/pg-internals.ts'
import type { Columns } from '#shared/platform/db/statements/sql-types.ts'
import type { TakeCell } from '#shared/platform/db/statements/statement.ts'
import {
  createColumns,
  findParser,
  noColumns,
  type RowColumns,
  readRowAsArray,
  readRowAsObject,
} from '#shared/platform/db/statements/value-parsers.ts'

/** Commands that a statement carries in its round trip. A failure skips the later ones. */
export interface CarriedCommands {
  /** Opens a transaction before the statement. */
  readonly opens?: boolean | undefined
  /** Commits after the statement. */
  readonly commits?: boolean | undefined
  /** Bounds the time of the statement. */
  readonly timeLimit?: TimeLimit | undefined
}

/** Milliseconds after which the database ends a statement. */
export interface TimeLimit {
  readonly ms: number
  /** The limit of the transaction's later statements; undefined outside a transaction, where the limit ends with the statement. */
  readonly afterwardsMs: number | undefined
}

/** One statement to run. */
interface QueryInput extends CarriedCommands {
  /** The prepared statement's name; '' for a statement that is parsed and planned each time. */
  readonly name: string
  readonly text: string
  /** Wire values: texts, bytes and nulls. */
  readonly values: readonly (string | Buffer | null)[]
  readonly declared?: Columns | undefined
  readonly asArrays: boolean
  readonly takeLastCell?: TakeCell | undefined
  readonly fit?: ByteLimit | undefined
  readonly meter?: ByteMeter | undefined
}

/** Counts the bytes of the rows that a caller reads, as the database sends them. */
export interface ByteMeter {
  bytes: number
}

/** A statement that a connection has prepared. */
interface PreparedStatement {
  readonly columns: RowColumns
  /** Characters of its text. */
  readonly length: number
  /** The number of the connection's run that last used it. */
  usedAt: number
}

/** A connection's prepared statements by name, and the characters of all their texts. */
interface PreparedStatements {
  readonly statements: Map<string, PreparedStatement>
  length: number
  runs: number
}

/**
 * Prepared statements by connection. Their columns never change: PostgreSQL refuses to run a prepared statement whose columns have changed
 * (0A000).
 */
const statementsByConnection = new WeakMap<Wire, PreparedStatements>()

/**
 * The most characters of prepared text per connection. PostgreSQL uses 30 to 60 bytes for each character, so this is 15 to 30 MB. All fixed
 * statements of the code together have less than half of these characters.
 */
export const maxPreparedLength = 500_000

/**
 * One run of a statement with parameters, as a Submittable of the driver (like pg-cursor). The driver's own query requests the column
 * descriptions with every run; for a get by id they take longer than the row. Here a connection requests them once (measured: 1.2 times as
 * many gets a second).
 */
export class PreparedQuery<Row> implements pg.Submittable {
  readonly name: string
  readonly text: string
  /** The columns that the statement declares, which the tests compare with its rows. */
  readonly declared: Columns | undefined
  readonly #values: QueryInput['values']
  readonly #asArrays: boolean
  readonly #takeLastCell: TakeCell | undefined
  readonly #fit: ByteLimit | undefined
  readonly #meter: ByteMeter | undefined
  #wire: Wire | undefined
  readonly #opens: boolean
  readonly #commits: boolean
  readonly #timeLimit: TimeLimit | undefined
  /** Commands that follow the statement: with `fit` none, since they are sent when its last row was read. */
  readonly #laterCommands: number
  /** Commands whose completion the database has not reported yet. */
  #pendingCommands: number
  readonly #resolve: (rows: Row[]) => void
  readonly #reject: (error: unknown) => void
  readonly #rows: Row[] = []
  #columns: RowColumns | undefined
  /** Stores the columns for the connection's next runs. */
  #storeColumns: ((columns: RowColumns) => void) | undefined
  #failure: unknown

  constructor(
    { name, text, values, declared, asArrays, takeLastCell, fit, meter, opens = false, commits = false, timeLimit }: QueryInput,
    resolve: (rows: Row[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.name = name
    this.text = text
    this.declared = declared
    this.#values = values
    this.#asArrays = asArrays
    this.#takeLastCell = takeLastCell
    this.#fit = fit
    this.#meter = meter
    if (fit) resetByteLimit(fit)
    this.#opens = opens
    this.#commits = commits
    this.#timeLimit = timeLimit
    const later = Number(commits) + Number(timeLimit?.afterwardsMs !== undefined)
    this.#laterCommands = fit ? 0 : later
    this.#pendingCommands = Number(opens) + Number(timeLimit !== undefined) + 1 + this.#laterCommands
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Called by the driver to send this query. A returned error ends the run before anything was sent. */
  submit(connection: unknown): Error | undefined {
    const wire = connection as Wire
    const { name, text } = this
    this.#wire = wire
    const prepared = name === '' ? undefined : (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name])
    if (prepared !== undefined && prepared !== text) return new Error(`The statement ${name} is prepared with another text`)
    wire.stream.cork()
    try {
      if (name !== '') this.#findColumns(wire, prepared !== undefined)
      // The driver attributes the first parse answer to the named statement, so it must be sent before `begin`.
      if (prepared === undefined && name !== '') {
        wire.parse({ name, text })
        wire.submittedNamedStatements[name] = text
      }
      if (this.#opens) sendCommand(wire, 'begin')
      if (this.#timeLimit) sendCommand(wire, setTimeLimit(this.#timeLimit.ms))
      if (name === '') wire.parse({ name, text })
      wire.bind({ statement: name, values: this.#values })
      if (this.#columns === undefined) wire.describe({ type: 'P' })
      wire.execute(this.#fit ? { rows: firstFetchRows } : {})
      if (this.#fit) wire.flush()
      else this.#end(wire)
    } finally {
      wire.stream.uncork()
    }
    return undefined
  }

  /** Sends the commands that follow the statement. */
  #end(wire: Wire): void {
    const afterwardsMs = this.#timeLimit?.afterwardsMs
    if (afterwardsMs !== undefined) sendCommand(wire, setTimeLimit(afterwardsMs))
    if (this.#commits) sendCommand(wire, 'commit')
    wire.sync()
  }

  /** Whether the database answers the statement itself now, not a command beside it. */
  get #isStatementRunning(): boolean {
    return this.#pendingCommands === 1 + this.#laterCommands
  }

  /** Finds the known columns, or prepares to store them. Above `maxPreparedLength` the least recently used statements are closed. */
  #findColumns(wire: Wire, isPrepared: boolean): void {
    const prepared = preparedOn(wire)
    prepared.runs += 1
    const found = isPrepared ? prepared.statements.get(this.name) : undefined
    if (found) {
      found.usedAt = prepared.runs
      this.#columns = found.columns
      return
    }
    this.#storeColumns = (columns) => {
      if (!prepared.statements.has(this.name)) prepared.length += this.text.length
      prepared.statements.set(this.name, { columns, length: this.text.length, usedAt: prepared.runs })
    }
    if (isPrepared) return
    while (prepared.statements.size > 0 && prepared.length + this.text.length > maxPreparedLength) {
      const oldest = leastRecentlyUsed(prepared)
      wire.close({ type: 'S', name: oldest })
      prepared.length -= prepared.statements.get(oldest)?.length ?? 0
      prepared.statements.delete(oldest)
      delete wire.parsedStatements[oldest]
    }
  }

  handleRowDescription(message: { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] }): void {
    const fields = this.#takeLastCell ? message.fields.slice(0, -1) : message.fields
    this.#columns = createColumns(
      fields.map(({ name }) => name),
      fields.map(({ dataTypeID }) => findParser(dataTypeID)),
    )
    this.#storeColumns?.(this.#columns)
  }

  handleDataRow({ fields, length }: { readonly fields: readonly (string | null)[]; readonly length: number }): void {
    // The command that sets a time limit answers with a row, too.
    if (this.#failure !== undefined || !this.#isStatementRunning) return
    if (this.#fit && !isRowKept(this.#fit, length)) return
    if (this.#meter) this.#meter.bytes += length
    if (this.#takeLastCell && this.#rows.length === 0) this.#takeLastCell(fields.at(-1) ?? null)
    const columns = this.#columns ?? noColumns
    try {
      this.#rows.push((this.#asArrays ? readRowAsArray(columns, fields) : readRowAsObject(columns, fields)) as Row)
    } catch (error) {
      this.#failure = error
    }
  }

  handleCommandComplete(): void {
    this.#pendingCommands -= 1
    // A statement that returns no rows has no columns; this is stored, so that they are not requested again.
    if (this.#pendingCommands === this.#laterCommands && this.#columns === undefined) this.#storeColumns?.(noColumns)
    if (this.#fit && this.#pendingCommands === 0 && this.#wire) this.#end(this.#wire)
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#rows)
    else this.#reject(this.#failure)
  }

  handleError(error: unknown): void {
    // Only errors sent by the database have a severity. Any other is an error of the connection, on which nothing can be sent any more.
    if (this.#fit && (error as { severity?: string }).severity !== undefined) this.#wire?.sync()
    this.#reject(error)
  }

  /** Fetches more rows of a limited run only while they fit, so the database reads few rows that would be dropped. */
  handlePortalSuspended(): void {
    const rows = this.#fit ? nextFetchRows(this.#fit, this.#rows.length) : 0
    if (!this.#wire) return
    if (rows === 0) {
      this.#pendingCommands -= 1
      this.#end(this.#wire)
    } else {
      this.#wire.execute({ rows })
      this.#wire.flush()
    }
  }

  /** Never called: texts are never empty. */
  handleEmptyQuery(): void {}
}

/** Sets the time limit until the transaction ends. `set local` would warn outside a transaction. */
const setTimeLimit = (ms: number): string => `select set_config('statement_timeout', '${ms}', true)`

/** Sends a statement that has no values, such as `begin`. */
function sendCommand(wire: Wire, text: string): void {
  wire.parse({ name: '', text })
  wire.bind({ statement: '', values: [] })
  wire.execute({})
}

function preparedOn(wire: Wire): PreparedStatements {
  const found = statementsByConnection.get(wire)
  if (found) return found
  const created = { statements: new Map<string, PreparedStatement>(), length: 0, runs: 0 }
  statementsByConnection.set(wire, created)
  return created
}

// Searches all statements instead of keeping the map in order of use. Each run would delete and re-insert an entry of such a map: it is
// rehashed every few runs, and V8 keeps the old map's values until the next major garbage collection, which cost a third of the searches
// per second.
function leastRecentlyUsed({ statements }: PreparedStatements): string {
  let [name, usedAt] = ['', Number.POSITIVE_INFINITY]
  for (const [candidate, used] of statements) if (used.usedAt < usedAt) [name, usedAt] = [candidate, used.usedAt]
  return name
}
