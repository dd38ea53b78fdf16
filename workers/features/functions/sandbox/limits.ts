/**
 * Limits of one run. The first four are part of the contract (docs/contract/limits.md#functions); the others protect the worker and the
 * runner.
 */
export const runLimits = Object.freeze({
  sourceBytes: 256 * 1024,
  sdkCalls: 10_000,
  logLines: 1_000,
  logBytes: 256 * 1024,
  /** Characters of one JSON text: the input, the result, the answer of an SDK call. */
  jsonCharacters: 4 * 1024 * 1024,
  /** Characters of the arguments of one SDK call, which the worker parses; the same as the limit of a request's body. */
  argumentCharacters: 1024 * 1024,
  /** Concurrent SDK calls of a run; further calls wait inside the run, in its own memory. */
  concurrentCalls: 8,
  /** Timers that are set and have not fired. */
  timers: 1_000,
  /** Characters of a run's error message. */
  errorCharacters: 8_192,
  /** Characters of the message of a source that does not parse. */
  problemCharacters: 500,
})

/** How the worker uses and monitors its runners. Times are in milliseconds. */
export const runnerLimits = Object.freeze({
  /** A runner is killed when it has grown by the run's memory limit and this much more, which the engine itself needs. */
  marginBytes: 64 * 1024 * 1024,
  pollIntervalMs: 15,
  /** Time slice of a busy run while others wait. */
  sliceMs: 50,
  /** CPU time of one run after which the run's owner is heavy: new runs of a heavy owner get time slices from their start. */
  heavyOwnerMs: 100,
  /** An owner is heavy for this long after its run was last busy. */
  heavyOwnerWindowMs: 5_000,
  /** Busy runs leave cores free for this long after a short run has ended. */
  shortRunWindowMs: 1_000,
  /**
   * CPU time after which a run gets a low priority. Without it, four endless functions on four cores make the runs of another workspace take
   * ten times as long.
   */
  fullPriorityMs: 20,
  /** A runner that holds this much more memory than when it was new is replaced. Trivial runs level off at 12 MB more. */
  keptBytes: 32 * 1024 * 1024,
  /** Maximum time from the order to the start of a run; a runner that takes longer is killed. */
  startTimeoutMs: 5_000,
  /**
   * Maximum time from a run's end until its runner is ready again; a runner that takes longer still executes code of that run, and is
   * killed.
   */
  resetTimeoutMs: 500,
  /**
   * Runners in which a run may be tried until it starts. All ready and starting runners of a machine may be lost together: two spare and
   * two starting ones, so there is a fifth try.
   */
  attempts: 5,
  spareRunners: 2,
  concurrentStarts: 2,
  /** An idle runner is ended after this time; the spare ones, at least one, are kept. */
  idleMs: 60_000,
  /** JSON texts of runs above this length are parsed one at a time: 1 MB takes about 20 ms of the worker's thread. */
  inlineCharacters: 32 * 1024,
  /** Pause after parsing such a long text, as a multiple of the parsing time: long texts take at most a fifth of the thread. */
  pauseFactor: 4,
  /** CPU time to compile and parse a source. Honest sources of 256 KB take 0.1 s; some worst cases of V8 take more than 5 s. */
  checkMs: 2_000,
  /** Elapsed time of a check: a limit for machines that are busy or do not report the CPU time of processes. */
  checkTimeoutMs: 30_000,
  /** Concurrent checks. A workspace has at most two (shared/features/functions/jobs.ts), so one remains for other workspaces. */
  concurrentChecks: 3,
  /**
   * Runners in which a source may be checked: one may be lost through no fault of the source. A source that needs too much memory costs
   * two.
   */
  checkAttempts: 2,
})
