import type { Tx } from '#shared/db/database.ts'
import type { ChangeEvent } from '#shared/events/change.ts'
import { deleteDispatches } from '#shared/events/statements.ts'
import type { Cause } from '#shared/kernel/cause.ts'

/** The signal that changes wait to be handed on. */
export const outbox = 'events'

/** Changes of one type and kind, made by one statement, on their way to those who listened when they were made. */
export interface Dispatch {
  readonly id: string
  readonly workspaceId: string
  readonly objectType: string
  readonly event: ChangeEvent
  /** The audit entries of the changes, which are the events. */
  readonly entryIds: string[]
  /** The listeners' ids by subscriber. */
  readonly listeners: Readonly<Record<string, string[]>>
  readonly cause: Cause
}

/**
 * Takes the oldest dispatches that nobody else is taking; they are gone when the transaction commits, and wait again when it fails. One
 * with a subscriber that is not among `known` is left to a process that knows it.
 */
export const takeDispatches = (tx: Tx, known: readonly string[], limit: number): Promise<Dispatch[]> =>
  tx.query<Dispatch>(deleteDispatches(known, limit))
