import pg from 'pg'

/** Milliseconds for each of its two steps. */
const withinMs = 2_500

/** Runs a query on a new connection, which is closed afterwards. */
export async function queryOnce<Row extends pg.QueryResultRow>(url: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'kontor probe',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    client.end().catch(() => undefined)
  }
}

/** Throws unless the database takes a new connection and accepts writes: a standby does not. */
export async function probeDatabase(url: string): Promise<void> {
  const [row] = await queryOnce<{ standby: boolean }>(url, 'select pg_is_in_recovery() as standby')
  if (row?.standby) throw new Error('The database is a standby')
}
