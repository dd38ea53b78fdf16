import { Client } from 'pg'

/** Creates the one table of the stand-in, as the project's release creates its own. */
export async function release(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('create table if not exists notes (id bigint generated always as identity primary key)')
  } finally {
    await client.end()
  }
}
