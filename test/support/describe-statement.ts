import type pg from 'pg'

/** What PostgreSQL says of a statement, without running it. */
export interface StatementDescription {
  /** Types of `$1`, `$2` and so on, as `format_type` writes them. */
  readonly params: readonly string[]
  readonly columns: readonly DescribedColumn[]
}

interface DescribedColumn {
  readonly name: string
  readonly type: string
  /** Whether the column of a table that it comes from may be null; undefined for an expression. Outer joins do not show in it. */
  readonly isNullable: boolean | undefined
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
  readonly tableID: number
  readonly columnID: number
}

/** The types of the parameters and the columns, as ids. */
interface Described {
  readonly params: readonly number[]
  readonly fields: readonly Field[]
}

interface Wire {
  once(event: 'parameterDescription', heard: (message: { readonly dataTypeIDs: readonly number[] }) => void): void
  removeAllListeners(event: 'parameterDescription'): void
  parse(message: { readonly name: string; readonly text: string }): void
  describe(message: { readonly type: 'S'; readonly name: string }): void
  sync(): void
}

/** Asks PostgreSQL to parse a statement and to describe its parameters and columns, as a Submittable of the driver. */
class Description implements pg.Submittable {
  readonly #text: string
  readonly #resolve: (found: Described) => void
  readonly #reject: (error: unknown) => void
  #wire: Wire | undefined
  #params: readonly number[] = []
  #fields: readonly Field[] = []
  #error: unknown

  constructor(text: string, resolve: (found: Described) => void, reject: (error: unknown) => void) {
    this.#text = text
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: unknown): void {
    const wire = connection as Wire
    this.#wire = wire
    wire.once('parameterDescription', ({ dataTypeIDs }) => {
      this.#params = dataTypeIDs
    })
    wire.parse({ name: '', text: this.#text })
    wire.describe({ type: 'S', name: '' })
    wire.sync()
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#fields = fields
  }

  handleError(error: unknown): void {
    this.#error = error
    this.#wire?.sync()
  }

  handleReadyForQuery(): void {
    this.#wire?.removeAllListeners('parameterDescription')
    if (this.#error === undefined) this.#resolve({ params: this.#params, fields: this.#fields })
    else this.#reject(this.#error)
  }
}

/** Describes statements by one connection; types and columns of the catalogue are read once. */
export async function statementDescriber(db: pg.Pool): Promise<(text: string) => Promise<StatementDescription>> {
  const types = await db.query<{ id: number; name: string }>('select oid::integer as id, format_type(oid, null) as name from pg_type')
  const columns = await db.query<{ key: string; nullable: boolean }>(
    `select attrelid || ' ' || attnum as key, not attnotnull as nullable from pg_attribute where attnum > 0`,
  )
  const typeNames = new Map(types.rows.map(({ id, name }) => [id, name]))
  const nullable = new Map(columns.rows.map(({ key, nullable }) => [key, nullable]))
  const nameOf = (id: number) => typeNames.get(id) ?? String(id)
  return async (text) => {
    const client = await db.connect()
    try {
      const { params, fields } = await new Promise<Described>((resolve, reject) => {
        client.query(new Description(text, resolve, reject))
      })
      return {
        params: params.map(nameOf),
        columns: fields.map(({ name, dataTypeID, tableID, columnID }) => ({
          name,
          type: nameOf(dataTypeID),
          isNullable: nullable.get(`${tableID} ${columnID}`),
        })),
      }
    } finally {
      client.release()
    }
  }
}
