import pg from 'pg'
import { type StatementName, statementsOf } from '#bench/floor/statements.ts'
import type { FloorType } from '#bench/floor/type.ts'

/** Numbers that fit and text for the rest: what the driver makes of dates and decimals by itself costs more than the floor should. */
const asText = (value: string): string => value
const getTypeParser = ((id: number, format?: 'text' | 'binary') => {
  if (id === pg.types.builtins.INT8) return Number
  return plain.has(id) ? asText : pg.types.getTypeParser(id, format)
}) as typeof pg.types.getTypeParser
const plain = new Set<number>([pg.types.builtins.DATE, pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.NUMERIC])

/** As many connections as an API has, with the same settings. */
export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_CONNECTIONS ?? 16),
  types: { getTypeParser },
  options: '-c TimeZone=UTC -c DateStyle=ISO -c jit=off',
})

/** Something that runs statements: the pool, or one connection of it. */
export type Connection = Pick<pg.Pool, 'query'>

/** Runs a type's statement, prepared. */
export type Run = (connection: Connection, name: StatementName, values: unknown[]) => Promise<Record<string, unknown>[]>

/** The way to run a type's statements. */
export function runnerOf(type: FloorType): Run {
  const statements = statementsOf(type)
  return async (connection, name, values) =>
    (await connection.query({ name: `${name} ${type.typeId}`, text: statements[name], values })).rows as Record<string, unknown>[]
}

/** Does something in a transaction. */
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
