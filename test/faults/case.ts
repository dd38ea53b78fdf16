/** What a case hands back to be ended when it is over, the last first. */
export interface Teardown {
  readonly teardown: (end: () => unknown) => void
  /** Whether it has failed by then. */
  readonly hasFailed: () => boolean
}

/** What came of one case. Every figure but `acknowledged`, `faults`, `failed`, `givenUp` and `slowest` has to be zero. */
export interface Figures {
  /** How often the fault was made to happen. */
  readonly faults: number
  /** Effects that a caller was told of: records, changes of records, rows of imports, effects of functions. */
  readonly acknowledged: number
  /** Acknowledged effects that are not there afterwards, audit entries and notifications that are missing among them. */
  readonly lost: number
  /** Effects that are there more than once. */
  readonly repeated: number
  /** Requests that were not answered within ten seconds. */
  readonly hung: number
  /** Requests that were answered with a failure of ours, or not at all, and had to be sent again. */
  readonly failed: number
  /** Jobs whose callers were told, for good, that they failed. */
  readonly givenUp: number
  readonly slowest: { readonly ms: number; readonly what: string }
  /** What else was measured. */
  readonly note?: string
  /** What else is not as it should be, in words. */
  readonly wrong: readonly string[]
}

/** One kind of fault, made to happen to real processes under load. */
export interface FaultCase {
  readonly name: string
  /** After so long the case has failed. */
  readonly limitSeconds: number
  /** Gives its figures, or says why this machine cannot show the fault. */
  readonly run: (t: Teardown) => Promise<Figures | Skipped>
}

export interface Skipped {
  readonly skipped: string
}
