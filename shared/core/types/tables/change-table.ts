import { setTimeout } from 'node:timers/promises'
import type { Workspace } from '#shared/core/scope/workspace.ts'
import { cancelIndexBuild } from '#shared/core/types/indexes/build-index.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { isLockTimeout } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** How long a change of a table is tried before the caller is told to come back. */
const patienceMs = 10_000

/** Seconds after which that caller may try again. */
const retryAfterSeconds = 5

const limitLockWait = { text: `set local lock_timeout = '500ms'` }

/**
 * Runs a change of a record type's table in a transaction. Such a change needs the table alone for a moment, and while it waits for
 * that, everybody who comes for the table waits behind it. So it waits half a second at most, lets the others through, and tries again
 * from the start, for ten seconds, and an index that is being built gives way to it; then it throws ORG_NOT_READY with Retry-After, for the table is in use without a break.
 */
export async function changeTable<T>(
  { db, workspace }: { readonly db: Executor; readonly workspace: Pick<Workspace, 'id'> },
  change: (tx: Tx) => Promise<T>,
  tryForMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + tryForMs
  const attempt = async (tx: Tx) => {
    await tx.query(limitLockWait)
    return change(tx)
  }
  for (;;) {
    try {
      // In a transaction that is open already an attempt that fails must leave it usable.
      return await withSavepoint(db, () => db.transaction(attempt))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (performance.now() > deadline) throw busy(error)
    }
    await cancelIndexBuild(db, workspace.id)
    // Changes that failed together must not come back together.
    await setTimeout(50 + Math.random() * 250)
  }
}

const busy = (cause: unknown) =>
  problem('ORG_NOT_READY', 'The record type is in use without a break; try again in some seconds', {
    cause,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
