import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import type { Database } from '#shared/platform/db/database.ts'
import { findNewestMigration } from '#shared/platform/db/migrate.ts'
import { text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const findMigration = statement('db.findMigration', 'select name::text as name from migrations where migrations.name = $name::text', {
  params: { name: text },
  columns: { name: text },
})

/** Whether the database is reachable and has every migration that this program knows. */
async function isReady(database: Database): Promise<boolean> {
  try {
    return (await database.query(findMigration({ name: await findNewestMigration() }))).length > 0
  } catch {
    return false
  }
}

/** The answer of `/readyz`. `fault` returns another reason why the process is not ready, such as an unreachable file store. */
export async function checkReadiness(
  database: Database,
  fault: () => Promise<string | undefined>,
): Promise<readonly [200 | 503, { status: string; reason?: string }]> {
  if (!(await isReady(database))) return [503, { status: 'not ready', reason: 'The database is out of reach or not migrated' }]
  const reason = await fault()
  return reason === undefined ? [200, { status: 'ready' }] : [503, { status: 'not ready', reason }]
}

/** Answers `/healthz`, `/readyz` and `/metrics` on a worker's own port (decisions, Health). */
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
    '/metrics': async () => [200, registry.contentType, await registry.metrics()],
  }
  const answer = answers[(request.url ?? '').split('?')[0] ?? '']
  const [status, type, body] =
    answer && request.method === 'GET' ? await answer() : ([404, 'application/json', '{"status":"not found"}'] as const)
  response.writeHead(status, { 'Content-Type': type }).end(body)
}
