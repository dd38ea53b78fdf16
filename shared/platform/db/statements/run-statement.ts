import type pg from 'pg'
import { prepareValue } from '#shared/platform/db/statements/pg-internals.ts'
import { type ByteMeter, type CarriedCommands, PreparedQuery } from '#shared/platform/db/statements/prepared-query.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** Runs a statement on a connection; `meter` counts its rows. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  statement: Statement<Row>,
  { opens, commits, timeLimit }: CarriedCommands = {},
  meter?: ByteMeter,
): Promise<Row[]> {
  const { name = '', text, values = [], columns, rows: form, byteLimit, takeLastCell } = statement
  // Text without parameters may hold several statements, which need the simple protocol.
  if (name === '' && values.length === 0 && !timeLimit) {
    const rowMode = form === undefined ? {} : { rowMode: 'array' as const }
    if (opens) await client.query('begin')
    const { rows } = await client.query<Row & pg.QueryResultRow>({ text, ...rowMode })
    if (commits) await client.query('commit')
    return rows
  }
  const wireValues = values.map((value) => prepareValue(value))
  try {
    return await new Promise<Row[]>((resolve, reject) => {
      client.query(
        new PreparedQuery<Row>(
          {
            name,
            text,
            values: wireValues,
            declared: columns,
            asArrays: form === 'arrays',
            takeLastCell,
            fit: byteLimit,
            meter,
            opens,
            commits,
            timeLimit,
          },
          resolve,
          reject,
        ),
      )
    })
  } catch (error) {
    // The error was created where the answer was read; the stack trace must show the caller.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}
