/** A periodic maintenance task. Several processes may run it at the same time without harm. */
export interface MaintenanceTask<Services> {
  /** Unique among maintenance tasks; also the name of its prepared statement if it has one. */
  readonly name: string
  readonly everySeconds: number
  /** Returns early, in a consistent state, when the signal aborts. */
  readonly run: (services: Services, signal: AbortSignal) => Promise<void>
}
