import type { TestFn } from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { type World, world } from '#test/support/world.ts'

/**
 * One world for all tests of a thread that ask for this environment; each test takes a workspace of its own. For tests that look at nothing
 * but their workspace: a world costs some 500 ms of processor time and 15 database connections, a workspace 30 ms and none.
 */
export function shareWorld(test: TestFn, environment: Readonly<Record<string, string>> = {}): () => Promise<World> {
  const shared = shareInThread(test, `world ${JSON.stringify(environment)}`, async () => {
    const value = await world(environment)
    return { value, close: value.close }
  })
  return async () => {
    const one = await shared()
    return { ...one, org: await createOrg(one) }
  }
}
