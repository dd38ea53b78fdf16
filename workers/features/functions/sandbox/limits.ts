/** What one run may use. The first four are the contract's (document 2, Limits); the others keep a run from wearing out what carries it. */
export const runLimits = Object.freeze({
  sourceBytes: 256 * 1024,
  sdkCalls: 10_000,
  logLines: 1_000,
  logBytes: 256 * 1024,
  /** Characters of one JSON text: the input, the result, the answer of an SDK call. */
  jsonCharacters: 4 * 1024 * 1024,
  /** Characters of the arguments of one SDK call, as much as a request's body may have: it is the worker that parses them. */
  argumentCharacters: 1024 * 1024,
  /** SDK calls that are under way at once; further ones wait inside the run, on the run's own memory. */
  callsAtOnce: 8,
  /** Timers that are set and have not gone off. */
  timers: 1_000,
  /** Of a run's error message, and of what is wrong with a source that does not parse. */
  errorCharacters: 8_192,
  problemCharacters: 500,
})

/** How the worker watches its runners. Times in milliseconds. */
export const runnerLimits = Object.freeze({
  /** A runner may grow by the run's memory and this much more, for the engine's own needs, before it is killed. */
  marginBytes: 64 * 1024 * 1024,
  pollIntervalMs: 15,
  /** How long a busy run goes on before the next one has its turn. */
  turnMs: 50,
  /** An owner one of whose runs has used so much processor time, and was busy so lately, has its new ones take turns from their first moment. */
  heavyOwnerMs: 100,
  heavyOwnerWindowMs: 5_000,
  /** Short runs are about when one has come to its end so lately. */
  shortRunWindowMs: 1_000,
  /**
   * Processor time after which a run goes behind everything else on the machine. Four endless functions on four cores let the runs of
   * another workspace take ten times as long without this.
   */
  fullPriorityMs: 20,
  /** A runner that holds this much more after a run than when it was new is replaced. Trivial runs settle at 12 MB more. */
  keptBytes: 32 * 1024 * 1024,
  /** From the order to the start of the run. */
  startTimeoutMs: 5_000,
  /** From a run's end to a runner that stands ready again; what takes longer still has the old run's code on its hands. */
  resetTimeoutMs: 500,
  /** A run that has not begun may have so many runners: those of one machine may be lost together, ready ones and starting ones. */
  attempts: 5,
  spareRunners: 2,
  concurrentStarts: 2,
  /** After so long without an order a runner is ended, unless it is the last. */
  idleMs: 60_000,
  /** JSON texts of runs that are longer than this are parsed and made one at a time: 1 MB takes some 20 ms of the worker's own thread. */
  inlineCharacters: 32 * 1024,
  /** After such a text the worker turns to no other for so many times as long as it took, so that they take a fifth of its time at most. */
  pauseFactor: 4,
  /** Processor time for a source to be compiled and parsed. Honest ones of 256 KB take 0.1 s; some of V8's own worst cases more than 5 s. */
  checkMs: 2_000,
  /** For a check on a machine that is busy, or does not tell what processor time a process has used. */
  checkTimeoutMs: 30_000,
  /** Sources checked at once: a workspace has two under way (shared/features/functions/jobs.ts), which may be hard ones, and another's has room. */
  concurrentChecks: 3,
  /** A runner may be lost through no fault of the source; one that takes too much memory costs two. */
  checkAttempts: 2,
})
