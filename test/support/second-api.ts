import type { ExecutionContext } from 'ava'
import { startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { Client } from '#test/support/client.ts'
import type { World } from '#test/support/world.ts'

/** Another API server on the same database with its own caches, and a visitor of it. It ends with the test. */
export async function startSecondApi(t: ExecutionContext, { config }: World, now?: () => Date): Promise<Client> {
  const api = await startApi(config, createLogger('second', config.logLevel), now)
  t.teardown(() => api.stop(1_000))
  return new Client(`http://127.0.0.1:${api.port}`, null)
}
