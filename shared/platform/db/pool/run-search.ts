import { overloadedProblem } from '#shared/platform/db/database-errors.ts'
import type { LongWaits } from '#shared/platform/db/pool/long-waits.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'

/** Milliseconds that a search may run (docs/contract/limits.md#searches). */
export const maxSearchMs = 5_000

/** PostgreSQL's code of a statement that ran longer than its limit. */
const statementTimedOut = '57014'

/**
 * Runs a search that the database ends after 5 s. Then it throws VALIDATION_ERROR that names the part of the request, or the rules of the
 * caller's roles, which the log names; OVERLOADED if work of this process had to wait meanwhile, since the search may have, too.
 */
export async function runSearch<T>(
  search: NonNullable<Statement['search']>,
  waits: Pick<LongWaits, 'hadSince'>,
  log: Logger | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const began = performance.now()
  try {
    return await run()
  } catch (error) {
    if ((error as { code?: string }).code !== statementTimedOut) throw error
    const seconds = maxSearchMs / 1_000
    if (waits.hadSince(began)) {
      throw overloadedProblem(`The server was busy, and the search took more than ${seconds} s; try again soon`, { cause: error })
    }
    const { named, roles } = search
    if (roles.length > 0) log?.warn({ roles }, 'a search under the conditions of these roles took too long')
    throw problem(
      'VALIDATION_ERROR',
      named === null
        ? `The conditions of your roles ask for more than the database finds in ${seconds} s; they must be made simpler`
        : `${named} asks for more than the database finds in ${seconds} s; ask for less`,
      { cause: error },
    )
  }
}
