import type pg from 'pg'

/** Session settings by name. */
export type SessionSettings = Readonly<Record<string, string | number>>

/**
 * Settings of every session. With the TCP keepalive settings the database notices a vanished client within a minute; by default it takes
 * two hours.
 */
export const sessionSettings: SessionSettings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'iso_8601',
  jit: 'off',
  // A statement uses one database process, however much it reads, so that others get CPU too (docs/decisions/connection-shares.md).
  max_parallel_workers_per_gather: 0,
  tcp_keepalives_idle: 30,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 3,
}

/** Keeps the platform's own schemas on the coordinator where Citus places new schemas on worker nodes. Plain PostgreSQL ignores it. */
export const citusCoordinatorSettings: SessionSettings = { 'citus.enable_schema_based_sharding': 'off' }

/**
 * The SQL that sets them: the first text that a session gets. Not parameters of its start, since PgBouncer refuses a session whose start
 * names a parameter that it does not know (docs/decisions/poolers.md).
 */
const setSql = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ')

/** Milliseconds until a new session must have its settings. */
const setWithinMs = 3_000

const backends = new WeakMap<pg.ClientBase, number>()

/** Prepares a new session: its settings, and the id of its server process. */
export async function prepareSession(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  const query = { text: `${setSql(settings)}; select pg_backend_pid() as pid`, query_timeout: setWithinMs }
  // Several statements have a result each.
  const results = (await client.query(query)) as unknown as readonly pg.QueryResult<{ readonly pid: number }>[]
  backends.set(client, results.at(-1)?.rows[0]?.pid ?? 0)
}

/** Id of the server process of a prepared session. The driver's own is the pooler's where one is in between. */
export const backendOf = (client: pg.ClientBase): number => backends.get(client) ?? 0
