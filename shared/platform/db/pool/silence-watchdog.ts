import pg from 'pg'
import { isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'

/** A statement without an answer after this time is looked up in the database. */
const silentAfterMs = 3_000
const lookEveryMs = 1_000
/** The database is out of reach when it does not answer a new connection within this time. */
const askWithinMs = 2_500

/** A connection and its unanswered statement. */
interface Waiting {
  readonly client: pg.PoolClient
  /** When the oldest unanswered statement was sent; undefined when all are answered. */
  since: number | undefined
  /** How often in a row the database was not working on it. */
  unknown: number
}

/**
 * Closes connections on which no answer can arrive, because the network stalled or dropped the connection without a reset. Their statements
 * fail within seconds; TCP alone would wait for 15 minutes. A statement that the database is working on is left alone. Returns a function
 * that stops the watch (docs/decisions/silent-connections.md).
 */
export function endSilentConnections(pool: pg.Pool, url: string): () => void {
  const connections = new Map<pg.PoolClient, Waiting>()
  pool.on('connect', (client) => {
    connections.set(client, watch(client))
  })
  pool.on('remove', (client) => {
    connections.delete(client)
  })

  const look = async (): Promise<void> => {
    const before = performance.now() - silentAfterMs
    const silent = [...connections.values()].filter(({ since }) => since !== undefined && since < before)
    if (silent.length === 0) return
    const asked = silent.map((waiting) => ({ waiting, since: waiting.since }))
    const known = await findWorking(
      url,
      silent.map(({ client }) => processOf(client)),
    )
    for (const { waiting, since } of asked) {
      if (waiting.since !== since) continue
      waiting.unknown = known === 'out of reach' ? 2 : known.has(processOf(waiting.client)) ? 0 : waiting.unknown + 1
      // The answer may be on its way, so the connection is closed at the second time.
      if (waiting.unknown >= 2) void waiting.client.end()
    }
  }

  let isLooking = false
  const timer = setInterval(async () => {
    if (isLooking) return
    isLooking = true
    await look().catch(() => undefined)
    isLooking = false
  }, lookEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}

function watch(client: pg.PoolClient): Waiting {
  const waiting: Waiting = { client, since: undefined, unknown: 0 }
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  client.query = ((...given: unknown[]) => {
    waiting.since ??= performance.now()
    return query(...given)
  }) as typeof client.query
  // `drain`: every statement that was sent has been answered.
  client.on('drain', () => {
    waiting.since = undefined
    waiting.unknown = 0
  })
  return waiting
}

/** Ids of the given server processes that are executing a statement. Throws when the database refuses the query. */
async function findWorking(url: string, processes: readonly number[]): Promise<ReadonlySet<number> | 'out of reach'> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: askWithinMs, query_timeout: askWithinMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const text = `select pid from pg_stat_activity where pid = any($1) and state = 'active'`
    const { rows } = await client.query<{ pid: number }>(text, [processes])
    return new Set(rows.map(({ pid }) => pid))
  } catch (error) {
    if (isDatabaseUnavailable(error)) return 'out of reach'
    throw error
  } finally {
    client.end().catch(() => undefined)
  }
}

const processOf = (client: pg.PoolClient): number => (client as unknown as { processID: number }).processID
