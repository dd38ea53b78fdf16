import type pg from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import { PreparedRun } from '#shared/db/prepared-run.ts'
import type { Statement } from '#shared/db/statement.ts'

/** Runs a statement on a connection. */
export async function runStatement<Row>(client: pg.ClientBase, statement: Statement): Promise<Row[]> {
  const { name = '', text, values = [], rows: form } = statement
  // Without parameters it may be several statements, which the driver sends as plain text.
  if (name === '' && values.length === 0) {
    return (await client.query<Row & pg.QueryResultRow>({ text, ...(form === undefined ? {} : { rowMode: 'array' as const }) })).rows
  }
  const written = values.map((value) => prepareValue(value))
  try {
    return await new Promise<Row[]>((resolve, reject) => {
      client.query(new PreparedRun<Row>({ name, text, values: written, asArrays: form === 'arrays' }, resolve, reject))
    })
  } catch (error) {
    // An error of the database was made where its answer was read; what matters is who asked.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}
