import type { TestFn } from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { type World, world } from '#test/support/world.ts'

/**
 * One world for all tests of a file, in which each takes a workspace of its own. For tests that look at nothing but their workspace: a
 * world costs some 300 ms and 15 database connections, a workspace 30 ms and none.
 */
export function shareWorld(test: TestFn, environment: Readonly<Record<string, string>> = {}): () => Promise<World> {
  let shared: Promise<World> | undefined
  test.after.always(async () => (await shared)?.close())
  return async () => {
    shared ??= world(environment)
    const one = await shared
    return { ...one, org: await createOrg(one) }
  }
}
