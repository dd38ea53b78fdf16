import pg from 'pg'
import { type StatementName, statementsOf } from '#bench/floor/statements.ts'
import type { FloorType } from '#bench/floor/type.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** Numbers where they fit, text for other types: the driver's own parsing of dates and decimals would burden the floor. */
const asText = (value: string): string => value
const getTypeParser = ((id: number, format?: 'text' | 'binary') => {
  if (id === pg.types.builtins.INT8) return Number
  return plain.has(id) ? asText : pg.types.getTypeParser(id, format)
}) as typeof pg.types.getTypeParser
const plain = new Set<number>([pg.types.builtins.DATE, pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.NUMERIC])

/** As many connections as an API has, with the same settings. */
export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  // The pool of Kontor, whose two other connections the floor does not need.
  max: Number(process.env.DATABASE_CONNECTIONS ?? 18) - 2,
  types: { getTypeParser },
  options: '-c TimeZone=UTC -c DateStyle=ISO -c jit=off -c max_parallel_workers_per_gather=0',
})

/** Runs a statement of Kontor as it is. */
export async function runStatement<Row extends object>({ name, text, values = [] }: Statement<Row>): Promise<Row[]> {
  return (await pool.query<Row>({ ...(name !== undefined && { name }), text, values: [...values] })).rows
}

/** Executes statements: the pool, or one connection of it. */
export type Connection = Pick<pg.Pool, 'query'>

/** Runs a prepared statement of a type. */
export type Run = (connection: Connection, name: StatementName, values: unknown[]) => Promise<Record<string, unknown>[]>

/** Creates the function that runs a type's statements. */
export function runnerOf(type: FloorType): Run {
  const statements = statementsOf(type)
  return async (connection, name, values) =>
    (await connection.query({ name: `${name} ${type.typeId}`, text: statements[name], values })).rows as Record<string, unknown>[]
}

/** Runs work in a transaction. */
export async function inTransaction(work: (connection: Connection) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } finally {
    client.release()
  }
}
