import type { ExecutionContext } from 'ava'

/** The seed of a run of random cases: SEED of the environment, or a new one. */
export const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

/** The same, logged by the test, so that a failure can be repeated. */
export function seedOf(t: ExecutionContext): number {
  t.log(`seed ${seed}`)
  return seed
}
