import type pg from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import { PreparedQuery } from '#shared/platform/db/statements/prepared-query.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** What of a transaction a statement brings along, so that it costs no round trip of its own. */
export interface TransactionBounds {
  /** Opens one before it. */
  readonly opens?: boolean | undefined
  /** Commits it behind it, unless it fails. */
  readonly commits?: boolean | undefined
}

/** Runs a statement on a connection. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  statement: Statement,
  { opens, commits }: TransactionBounds = {},
): Promise<Row[]> {
  const { name = '', text, values = [], rows: form, byteLimit } = statement
  // Without parameters it may be several statements, which the driver sends as plain text.
  if (name === '' && values.length === 0) {
    const rowMode = form === undefined ? {} : { rowMode: 'array' as const }
    if (opens) await client.query('begin')
    const { rows } = await client.query<Row & pg.QueryResultRow>({ text, ...rowMode })
    if (commits) await client.query('commit')
    return rows
  }
  const written = values.map((value) => prepareValue(value))
  try {
    return await new Promise<Row[]>((resolve, reject) => {
      client.query(
        new PreparedQuery<Row>(
          { name, text, values: written, asArrays: form === 'arrays', fit: byteLimit, opens, commits },
          resolve,
          reject,
        ),
      )
    })
  } catch (error) {
    // An error of the database was made where its answer was read; what matters is who asked.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}
