import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { type Dispatch, selectWaitingWorkspaces, takeDispatchRows } from '#shared/platform/events/store.ts'

/** The signal that events wait in the outbox. */
export const outboxSignal = 'events'

/** Finds at most `limit` workspaces with waiting dispatches, ordered by id, after a given one. */
export const findWaitingWorkspaces = (db: Executor, afterId: string, limit: number) => db.query(selectWaitingWorkspaces({ afterId, limit }))

/**
 * Takes the oldest dispatches of each workspace, except those that another transaction has locked. Their rows are deleted when the
 * transaction commits, and wait again when it fails. A dispatch with a subscriber that is not in `known` is left to a process that knows
 * it.
 */
export const takeDispatches = (
  tx: Tx,
  known: readonly string[],
  workspaceIds: readonly string[],
  perWorkspace: number,
): Promise<Dispatch[]> => tx.query(takeDispatchRows({ known, workspaceIds, perWorkspace }))
