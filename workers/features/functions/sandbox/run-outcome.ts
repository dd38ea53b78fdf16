import type { LogLevel } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** One run to do. */
export interface RunRequest {
  /** Whose run it is, of those who share the sandbox: who wears out runners waits for new ones, and the others do not. */
  readonly owner: string
  readonly source: string
  /** What `handler` is called with, as JSON. */
  readonly inputText: string
  /** From the start of the run in its isolate; waiting for a runner is not counted. */
  readonly timeoutMs: number
  /** Names such as `records.list`, each of which becomes a function of the global `sdk`. */
  readonly sdkMethods: readonly string[]
  /** Carries out one SDK call. A Problem reaches the function with its code and message; any other error as INTERNAL. */
  readonly call: SdkCall
  /** Aborting it ends the run at once as interrupted. */
  readonly signal?: AbortSignal
}

/** `args` are parsed JSON; the signal is aborted when the run is over before the call is. Resolves to a JSON value, or undefined. */
export type SdkCall = (method: string, args: readonly unknown[], signal: AbortSignal) => Promise<unknown>

export interface LogLine {
  readonly level: LogLevel
  readonly msg: string
}
export interface SdkStep {
  readonly method: string
  /** True too for a call that the run did not see the end of. */
  readonly is_error: boolean
}

export type RunEnding = 'returned' | 'threw' | 'timed_out' | 'out_of_memory' | 'interrupted'

/** What became of a run: the contract's invocation result (document 2, Function) with the result as it came, too. */
export interface RunOutcome {
  readonly ending: RunEnding
  /** What `handler` returned, with every digit, and as the JSON text that it came in; null when it returned nothing or did not return. */
  readonly result: unknown
  readonly resultText: string
  /** Null when the handler returned; else the message of what it threw, or one of the fixed texts for an end that it did not choose. */
  readonly error: string | null
  readonly timedOut: boolean
  readonly logs: readonly LogLine[]
  readonly steps: readonly SdkStep[]
  /** Whole milliseconds from the start of the run in its isolate. */
  readonly durationMs: number
}

/** The messages of the endings that a function does not choose (decisions, Functions). */
export const endingMessages = Object.freeze({
  timed_out: 'timed out',
  out_of_memory: 'memory limit exceeded',
  interrupted: 'the run was interrupted',
})

/** The outcome of a run that was aborted before it had a runner. */
export const neverStartedOutcome: RunOutcome = Object.freeze({
  ending: 'interrupted',
  result: null,
  resultText: 'null',
  error: endingMessages.interrupted,
  timedOut: false,
  logs: [],
  steps: [],
  durationMs: 0,
})
