import { setTimeout } from 'node:timers/promises'
import type { Workspace } from '#shared/core/scope/store.ts'
import { cancelIndexBuild } from '#shared/core/types/indexes/build-index.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { renameEdition } from '#shared/core/types/tables/store.ts'
import { editionColumnOf } from '#shared/core/types/tables/table-names.ts'
import { raiseEdition } from '#shared/core/types/types/store.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { isLockTimeout } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** How long a table change is retried before ORG_NOT_READY. */
const maxTryMs = 10_000

/** The `Retry-After` of this ORG_NOT_READY. */
const retryAfterSeconds = 5

const limitLockWait = { text: `set local lock_timeout = '500ms'` }

/**
 * Runs a change of a record type's table in a transaction. The change needs an exclusive lock, and while it waits for the lock, all later
 * queries of the table wait behind it. So each attempt waits at most half a second for locks, then lets the others proceed, cancels a
 * running index build and starts over, for ten seconds. Then it throws ORG_NOT_READY with Retry-After, since the table is in constant use.
 */
export async function changeTable<T>(
  { db, workspace }: { readonly db: Executor; readonly workspace: Pick<Workspace, 'id'> },
  change: (tx: Tx) => Promise<T>,
  tryForMs = maxTryMs,
): Promise<T> {
  const deadline = performance.now() + tryForMs
  const attempt = async (tx: Tx) => {
    await tx.query(limitLockWait)
    return change(tx)
  }
  for (;;) {
    try {
      // The savepoint keeps an outer transaction usable after a failed attempt.
      return await withSavepoint(db, () => db.transaction(attempt))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (performance.now() > deadline) throw tableBusy(error)
    }
    await cancelIndexBuild(db, workspace.id)
    // Random delay, so that changes which failed together do not retry together.
    await setTimeout(50 + Math.random() * 250)
  }
}

/**
 * Starts a new edition of a type, for a change after which records must be written differently: with another formula or other rules. Once
 * this returns, every write with earlier type metadata is either committed or fails with "undefined column" and is retried with new
 * metadata (shared/platform/db/attempts.ts); no other write of the type's records happens until the transaction ends. It changes only the
 * catalogue and adds no cost to writes. Call it inside `changeTable`, with the type locked.
 */
export async function startEdition(tx: Tx, { workspaceId, id, schema, key, editionColumn }: RecordType): Promise<void> {
  const [row] = await tx.query(raiseEdition({ workspaceId, id }))
  if (row) await renameEdition(tx, schema, key, editionColumn, editionColumnOf(row.edition))
}

const tableBusy = (cause: unknown) =>
  problem('ORG_NOT_READY', 'The record type is in use without a break; try again in some seconds', {
    cause,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
