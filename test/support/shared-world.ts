import type { TestFn } from 'ava'
import type { WorkerPool } from '#shared/platform/jobs/job.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { type World, world } from '#test/support/world.ts'

type Environment = Readonly<Record<string, string>>

interface Options {
  readonly pools?: readonly WorkerPool[]
  /** A fixed time. */
  readonly at?: string
  /** A time that the tests of one file move: only they share the world. */
  readonly now?: () => Date
  /** Files with this key share a world whose environment is known only once the tests begin. */
  readonly key?: string
}

/**
 * One world for all tests of a thread that ask for this environment and these options; each test gets its own workspace. For tests that use
 * only their workspace: a world costs some 200 ms of processor time and 15 database connections, a workspace 30 ms and none. An environment
 * that is known only once the tests begin, such as a port, makes it a world of this file, unless it has a key.
 */
export function shareWorld(
  test: TestFn,
  environment: Environment | (() => Promise<Environment>) = {},
  { pools, at, now, key }: Options = {},
): () => Promise<World> {
  const isKnown = typeof environment !== 'function'
  const clock = at === undefined ? now : () => new Date(at)
  const start = async () => {
    const value = await world(isKnown ? environment : await environment(), pools, clock)
    return { value, close: value.close }
  }
  const known = isKnown && !now ? `world ${JSON.stringify({ ...environment, pools, at })}` : undefined
  const shared = shareInThread(test, start, key ?? known)
  return async () => {
    const one = await shared()
    return { ...one, org: await createOrg(one) }
  }
}
