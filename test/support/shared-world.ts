import { randomUUID } from 'node:crypto'
import type { TestFn } from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { type World, world } from '#test/support/world.ts'

type Environment = Readonly<Record<string, string>>

/**
 * One world for all tests of a thread that ask for this environment; each test takes a workspace of its own. For tests that look at nothing
 * but their workspace: a world costs some 500 ms of processor time and 15 database connections, a workspace 30 ms and none. An environment
 * that is only known once the tests begin, such as a port, makes it a world of this file alone.
 */
export function shareWorld(test: TestFn, environment: Environment | (() => Promise<Environment>) = {}): () => Promise<World> {
  const key = typeof environment === 'function' ? randomUUID() : JSON.stringify(environment)
  const shared = shareInThread(test, `world ${key}`, async () => {
    const value = await world(typeof environment === 'function' ? await environment() : environment)
    return { value, close: value.close }
  })
  return async () => {
    const one = await shared()
    return { ...one, org: await createOrg(one) }
  }
}
