/** Something that keeps house: it is done again and again, by one process at a time or by several without harm. */
export interface Chore<Services> {
  /** Its own among all chores; also the name of its prepared statement where it has one. */
  readonly name: string
  readonly everySeconds: number
  /** Ends early, and whole, when the signal aborts. */
  readonly run: (services: Services, signal: AbortSignal) => Promise<void>
}
