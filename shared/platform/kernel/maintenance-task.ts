/**
 * Seconds between two counts of the rows that operators see numbers of. With the second after which a worker finds due work and the age of a
 * snapshot, a number is at most 5 s old (docs/contract/operators.md#the-installation).
 */
export const countEverySeconds = 3

/** A periodic maintenance task. Several processes may run it at the same time without harm. */
export interface MaintenanceTask<Services> {
  /** Unique among maintenance tasks; also the name of its prepared statement if it has one. */
  readonly name: string
  readonly everySeconds: number
  /** Returns early, in a consistent state, when the signal aborts. */
  readonly run: (services: Services, signal: AbortSignal) => Promise<void>
}
