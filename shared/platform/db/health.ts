import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { findNewestMigration } from '#shared/platform/db/migrate.ts'
import { text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { readMetrics } from '#shared/platform/kernel/metrics.ts'
import type { Parts } from '#shared/platform/kernel/process/part.ts'

const findMigration = statement('db.findMigration', 'select name::text as name from migrations where migrations.name = $name::text', {
  params: { name: text },
  columns: { name: text },
})

/** What the file store says about itself, as text for the operator: `foreign` is the store of another installation. */
type StoreState = { readonly foreign: string } | { readonly away: string } | undefined

/** What a process needs to serve; `checkStore` asks the file store. */
interface Checked {
  readonly database: Database
  readonly cache: Cache
  readonly parts: Parts
  readonly checkStore: () => Promise<StoreState>
}

interface Readiness {
  readonly status: 'ready' | 'not ready'
  readonly reason?: string
  /** The parts that the process uses, by name: `up`, or why they are away. */
  readonly parts: Readonly<Record<string, string>>
}

/**
 * The answer of `/readyz`: 503 while the database refuses reads or writes, is not migrated, or knows another file store. While another part is
 * away the process stays ready: only what needs the part fails, and the answer names it.
 */
export async function checkReadiness({ database, cache, parts, checkStore }: Checked): Promise<readonly [200 | 503, Readiness]> {
  const states: Record<string, string> = {}
  const used = Object.values(parts).filter(({ isUsed }) => isUsed)
  for (const { name, isUp, reason } of used) states[name] = isUp ? 'up' : (reason ?? 'away')
  const notReady = (reason: string) => [503, { status: 'not ready', reason, parts: states }] as const
  const fault = await findDatabaseFault(database, cache)
  if (fault !== undefined) {
    states[parts.database.name] = fault
    return notReady(fault)
  }
  states[parts.database.name] = 'up'
  const store = await checkStore()
  states[parts.fileStore.name] = store === undefined ? 'up' : 'foreign' in store ? store.foreign : store.away
  return store && 'foreign' in store ? notReady(store.foreign) : [200, { status: 'ready', parts: states }]
}

/** Why the database cannot serve; undefined when it can. A write refreshes the cache first, on a connection of its own. */
async function findDatabaseFault(database: Database, cache: Cache): Promise<string | undefined> {
  try {
    await cache.refresh()
    const found = await database.query(findMigration({ name: await findNewestMigration() }))
    return found.length > 0 ? undefined : 'The database is not migrated'
  } catch (error) {
    const { cause = error } = error as { readonly cause?: unknown }
    const { message, code } = cause as { readonly message?: string; readonly code?: string }
    return code === '42P01' ? 'The database is not migrated' : `The database is out of reach: ${message || code}`
  }
}

/** Answers `/healthz`, `/readyz` and `/metrics` on a worker's own port (docs/contract/conventions.md#health). */
export async function answerHealth(
  request: IncomingMessage,
  response: ServerResponse,
  ready: () => ReturnType<typeof checkReadiness>,
  registry: Registry,
): Promise<void> {
  const answers: Readonly<Record<string, () => Promise<readonly [number, string, string]>>> = {
    '/healthz': async () => [200, 'application/json', '{"status":"ok"}'],
    '/readyz': async () => {
      const [status, body] = await ready()
      return [status, 'application/json', JSON.stringify(body)]
    },
    '/metrics': async () => [200, registry.contentType, await readMetrics(registry)],
  }
  const answer = answers[(request.url ?? '').split('?')[0] ?? '']
  const [status, type, body] =
    answer && request.method === 'GET' ? await answer() : ([404, 'application/json', '{"status":"not found"}'] as const)
  response.writeHead(status, { 'Content-Type': type }).end(body)
}
