import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { selectWaitingWorkspaces, takeDispatchRows } from '#shared/platform/events/store.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'

/** The signal that events wait in the outbox. */
export const outboxSignal = 'events'

/** Events of one kind that one statement announced, and the listeners at that time. See `eventDelivery`. */
export interface Dispatch {
  readonly id: string
  readonly workspaceId: string
  readonly source: string
  readonly objectType: string
  readonly event: string
  readonly entryIds: string[]
  readonly subjectIds: string[]
  /** In the order of the events; null where no listener asked for them. */
  readonly snapshots: unknown[] | null
  /** Listener ids by subscriber. */
  readonly listeners: Readonly<Record<string, string[]>>
  readonly cause: Cause
}

/** A workspace with waiting dispatches. */
interface WaitingWorkspace {
  readonly workspaceId: string
  readonly isSuspended: boolean
}

/** Finds at most `limit` workspaces with waiting dispatches, ordered by id, after a given one. */
export const findWaitingWorkspaces = (db: Executor, after: string, limit: number): Promise<WaitingWorkspace[]> =>
  db.query<WaitingWorkspace>(selectWaitingWorkspaces(after, limit))

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
): Promise<Dispatch[]> => tx.query<Dispatch>(takeDispatchRows(known, workspaceIds, perWorkspace))
