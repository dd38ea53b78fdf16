/** Ends the things of a case when it is over, last first. */
export interface Teardown {
  readonly teardown: (end: () => unknown) => void
  /** Whether the case has failed by then. */
  readonly hasFailed: () => boolean
}

/** The result of a case. Every figure except `acknowledged`, `faults`, `failed`, `givenUp` and `slowest` must be zero. */
export interface Figures {
  /** The number of faults. */
  readonly faults: number
  /** Effects that were confirmed to a caller: records, changes of records, rows of imports, effects of functions. */
  readonly acknowledged: number
  /** Acknowledged effects that are missing afterwards, including audit entries and notifications. */
  readonly lost: number
  /** Effects that exist more than once. */
  readonly repeated: number
  /** Requests that were not answered within ten seconds. */
  readonly hung: number
  /** Requests that failed with an internal error or without a response, and were repeated. */
  readonly failed: number
  /** Jobs that were reported as failed to their callers. */
  readonly givenUp: number
  readonly slowest: { readonly ms: number; readonly what: string }
  /** Further measurements. */
  readonly note?: string
  /** Other violations, in words. */
  readonly wrong: readonly string[]
}

/** A kind of fault that happens to real processes under load. */
export interface FaultCase {
  readonly name: string
  /** The case fails after this time. */
  readonly limitSeconds: number
  /** Returns its figures, or the reason why this machine cannot produce the fault. */
  readonly run: (t: Teardown) => Promise<Figures | Skipped>
}

export interface Skipped {
  readonly skipped: string
}
