import type pg from 'pg'
import { isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'
import { queryOnce } from '#shared/platform/db/pool/probe.ts'
import { backendOf } from '#shared/platform/db/pool/session-settings.ts'
import { receivedBy } from '#shared/platform/db/statements/pg-internals.ts'

/** A statement without an answer after this time is checked in the database. */
const silentAfterMs = 1_000
/**
 * With the time that the check may take, a call on a lost connection is answered within 4 s
 * (docs/contract/conventions.md#unavailable-parts).
 */
const checkEveryMs = 250

/** A connection, and how long it has waited for an answer. */
interface Waiting {
  readonly client: pg.PoolClient
  /** When the oldest unanswered statement was sent; undefined when all are answered. */
  since: number | undefined
  /** Consecutive checks in which the database was not executing a statement of this connection, while an answer was awaited. */
  missed: number
  /** Bytes that the connection had received when that statement was sent, or at the last check. */
  received: number
}

/**
 * Closes connections on which no answer can arrive, because the network stalled or dropped the connection without a reset. Their statements
 * fail within seconds; TCP alone would wait for 15 minutes. A statement that the database is executing is not affected. Returns a function
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

  const check = async (): Promise<void> => {
    const before = performance.now() - silentAfterMs
    const silent = [...connections.values()].filter(({ since }) => since !== undefined && since < before)
    if (silent.length === 0) return
    const checked = silent.map((waiting) => ({ waiting, since: waiting.since }))
    const known = await findWorking(
      url,
      silent.map(({ client }) => backendOf(client)),
    )
    for (const { waiting, since } of checked) {
      if (waiting.since !== since) continue
      // A long answer is still being read: the database has sent it and is idle, and this process is slow.
      const received = receivedBy(waiting.client)
      const isReading = received !== waiting.received
      waiting.received = received
      if (isReading) {
        waiting.missed = 0
        continue
      }
      waiting.missed = known === 'unreachable' ? 2 : known.has(backendOf(waiting.client)) ? 0 : waiting.missed + 1
      // After the first check the answer may still be on its way, so the connection is closed after the second one.
      if (waiting.missed >= 2) void waiting.client.end()
    }
  }

  let isChecking = false
  const timer = setInterval(async () => {
    if (isChecking) return
    isChecking = true
    await check().catch(() => undefined)
    isChecking = false
  }, checkEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}

function watch(client: pg.PoolClient): Waiting {
  const waiting: Waiting = { client, since: undefined, missed: 0, received: 0 }
  const query = client.query.bind(client) as (...parameters: unknown[]) => unknown
  client.query = ((...parameters: unknown[]) => {
    if (waiting.since === undefined) {
      waiting.since = performance.now()
      waiting.received = receivedBy(client)
    }
    return query(...parameters)
  }) as typeof client.query
  // `drain`: every statement that was sent has been answered.
  client.on('drain', () => {
    waiting.since = undefined
    waiting.missed = 0
  })
  return waiting
}

/** Ids of the given server processes that are executing a statement. Throws when the database refuses the query. */
async function findWorking(url: string, processes: readonly number[]): Promise<ReadonlySet<number> | 'unreachable'> {
  try {
    const text = `select pid from pg_stat_activity where pid = any($1) and state = 'active'`
    return new Set((await queryOnce<{ pid: number }>(url, text, [processes])).map(({ pid }) => pid))
  } catch (error) {
    if (isDatabaseUnavailable(error)) return 'unreachable'
    throw error
  }
}
