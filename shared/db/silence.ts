import pg from 'pg'
import { isOutOfReach } from '#shared/db/conflicts.ts'

/** A statement that is not answered for so long makes us ask whether it still can be. */
const silentAfterMs = 3_000
const lookEveryMs = 1_000
/** A database that does not answer a new connection within this is out of reach. */
const askWithinMs = 2_500

/** A connection and the statement that it waits for. */
interface Waiting {
  readonly client: pg.PoolClient
  /** When it was sent; undefined while none is on its way. */
  since: number | undefined
  /** How often in a row the database did not know of it. */
  unknown: number
}

/**
 * Ends connections on which no answer can come any more, so that whoever waits there fails within seconds, and the pool makes another: the
 * network has stopped, or has forgotten the connection without telling us. A statement that the database is at work on may take its time.
 * TCP itself would wait for a quarter of an hour. Call what it returns when the pool is closed.
 */
export function endSilent(pool: pg.Pool, url: string): () => void {
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
      // An answer may just be on its way, so once is not enough.
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
  // All that was sent has been answered.
  client.on('drain', () => {
    waiting.since = undefined
    waiting.unknown = 0
  })
  return waiting
}

/** Which of these sessions the database is at work for; throws when it refuses to say. */
async function findWorking(url: string, processes: readonly number[]): Promise<ReadonlySet<number> | 'out of reach'> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: askWithinMs, query_timeout: askWithinMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const text = `select pid from pg_stat_activity where pid = any($1) and state = 'active'`
    const { rows } = await client.query<{ pid: number }>(text, [processes])
    return new Set(rows.map(({ pid }) => pid))
  } catch (error) {
    if (isOutOfReach(error)) return 'out of reach'
    throw error
  } finally {
    client.end().catch(() => undefined)
  }
}

const processOf = (client: pg.PoolClient): number => (client as unknown as { processID: number }).processID
