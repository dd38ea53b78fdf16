import type { Executor, Tx } from '#shared/db/database.ts'
import { selectLines, takeChanges } from '#shared/events/statements.ts'
import type { Cause } from '#shared/kernel/cause.ts'

/** The signal that changes wait to be handed on. */
export const outbox = 'events'

/** Events of one kind, made by one statement, on their way to those who listened when they were made. See `heardChanges`. */
export interface Dispatch {
  readonly id: string
  readonly workspaceId: string
  readonly source: string
  readonly objectType: string
  readonly event: string
  readonly entryIds: string[]
  readonly subjectIds: string[]
  /** In the order of the events where a listener asked for them, else null. */
  readonly snapshots: unknown[] | null
  /** The listeners' ids by subscriber. */
  readonly listeners: Readonly<Record<string, string[]>>
  readonly cause: Cause
}

/** Before the first workspace. */
export const beforeAll = '00000000-0000-0000-0000-000000000000'

/** A workspace that has dispatches waiting. */
export interface Line {
  readonly workspaceId: string
  readonly isSuspended: boolean
}

/** The workspaces that have dispatches waiting, in the order of their ids, so many at most after a given one. */
export const findLines = (db: Executor, after: string, atMost: number): Promise<Line[]> => db.query<Line>(selectLines(after, atMost))

/**
 * Takes the oldest dispatches of each of these workspaces that nobody else is taking; they are gone when the transaction commits, and wait
 * again when it fails. One with a subscriber that is not among `known` is left to a process that knows it.
 */
export const takeDispatches = (tx: Tx, known: readonly string[], workspaceIds: readonly string[], ofEach: number): Promise<Dispatch[]> =>
  tx.query<Dispatch>(takeChanges(known, workspaceIds, ofEach))
