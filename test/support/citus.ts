import pg from 'pg'

/** The nodes of a Citus cluster whose coordinator is TEST_DATABASE_URL: `host:port,host:port`; empty on plain PostgreSQL. */
const workers = (process.env.TEST_CITUS_WORKERS ?? '').split(',').filter((address) => address !== '')

/** Settings of a session that Citus does not pass on to a worker (docs/citus.md). */
const workerSettings = ["lock_timeout = '3s'", "timezone = 'UTC'", 'jit = off', 'max_parallel_workers_per_gather = 0']

/** Lets the cluster place the workspaces of a database on its workers. Does nothing on plain PostgreSQL. */
export async function distribute(url: string): Promise<void> {
  if (workers.length === 0) return
  const { hostname, port, pathname } = new URL(url)
  const database = pg.escapeIdentifier(pathname.slice(1))
  for (const worker of workers) {
    await runOn(at(url, worker, 'postgres'), [
      `create database ${database} template template0`,
      ...workerSettings.map((setting) => `alter database ${database} set ${setting}`),
    ])
    await runOn(at(url, worker), ['create extension citus'])
  }
  await runOn(url, [
    'create extension citus',
    `select citus_set_coordinator_host('${hostname}', ${port})`,
    ...workers.map((worker) => `select citus_add_node('${new URL(at(url, worker)).hostname}', ${new URL(at(url, worker)).port})`),
    `alter database ${database} set citus.enable_schema_based_sharding = on`,
  ])
}

/** Drops a database of the cluster from its workers. */
export async function dropFromWorkers(url: string, name: string): Promise<void> {
  for (const worker of workers)
    await runOn(at(url, worker, 'postgres'), [`drop database if exists ${pg.escapeIdentifier(name)} with (force)`])
}

/** The same URL at another node. */
function at(url: string, address: string, database?: string): string {
  const node = new URL(url)
  node.host = address
  if (database) node.pathname = `/${database}`
  return node.href
}

async function runOn(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
