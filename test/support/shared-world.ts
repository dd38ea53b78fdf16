import type { TestFn } from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { type World, world } from '#test/support/world.ts'

type Environment = Readonly<Record<string, string>>

/**
 * One world for all tests of a thread that ask for this environment; each test takes a workspace of its own. For tests that look at nothing
 * but their workspace: a world costs some 500 ms of processor time and 15 database connections, a workspace 30 ms and none. An environment
 * that is only known once the tests begin, such as a port, is shared by its key, and without one makes it a world of this file alone.
 */
export function shareWorld(test: TestFn, environment: Environment | (() => Promise<Environment>) = {}, key?: string): () => Promise<World> {
  if (typeof environment === 'function') return share(test, async () => world(await environment()), key)
  return share(test, () => world(environment), `world ${JSON.stringify(environment)}`)
}

/** The same for tests whose time stands still. */
export const shareWorldAt = (test: TestFn, at: string, environment: Environment = {}): (() => Promise<World>) =>
  share(test, () => world(environment, undefined, () => new Date(at)), `world at ${at} ${JSON.stringify(environment)}`)

/** One world for all tests of a file that need these pools or this clock; each test takes a workspace of its own. */
export const shareOwnWorld = (test: TestFn, ...options: Parameters<typeof world>): (() => Promise<World>) =>
  share(test, () => world(...options))

function share(test: TestFn, start: () => Promise<World>, key?: string): () => Promise<World> {
  const shared = shareInThread(
    test,
    async () => {
      const value = await start()
      return { value, close: value.close }
    },
    key,
  )
  return async () => {
    const one = await shared()
    return { ...one, org: await createOrg(one) }
  }
}
