import type { LogLevel } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** A run to execute. */
export interface RunRequest {
  /** The workspace of the run. If its runs cost runners or time, its own next runs wait for that, not those of other workspaces. */
  readonly owner: string
  readonly source: string
  /** The argument of `handler`, as JSON. */
  readonly inputText: string
  /** Time limit in milliseconds from the start of the run in its isolate; waiting for a runner does not count. */
  readonly timeoutMs: number
  /** Names such as `records.list`; each becomes a function of the global `sdk`. */
  readonly sdkMethods: readonly string[]
  /** Executes one SDK call. A Problem reaches the function with its code and message, any other error as INTERNAL. */
  readonly call: SdkCall
  /** Aborting it ends the run at once as interrupted. */
  readonly signal?: AbortSignal
}

/** Receives parsed JSON as `args` and resolves to a JSON value or undefined. The signal aborts when the run ends before the call. */
export type SdkCall = (method: string, args: readonly unknown[], signal: AbortSignal) => Promise<unknown>

export interface LogLine {
  readonly level: LogLevel
  readonly msg: string
}
export interface SdkStep {
  readonly method: string
  /** Also true for a call that was pending when the run ended. */
  readonly is_error: boolean
}

export type RunEnding = 'returned' | 'threw' | 'timed_out' | 'out_of_memory' | 'interrupted'

/**
 * The outcome of a run: the values of the contract's invocation result (docs/contract/functions.md#invocation-result), and the result also
 * as JSON text.
 */
export interface RunOutcome {
  readonly ending: RunEnding
  /** The value that `handler` returned, with exact numbers; null when it returned nothing or did not return. */
  readonly result: unknown
  readonly resultText: string
  /** Null when the handler returned; otherwise the message of the thrown value, or the message of the ending. */
  readonly error: string | null
  readonly logs: readonly LogLine[]
  readonly steps: readonly SdkStep[]
  /** Whole milliseconds from the start of the run in its isolate. */
  readonly durationMs: number
  /** Milliseconds of CPU time, in steps of 10. */
  readonly cpuMs: number
}

/** Messages of the endings that the platform causes. */
export const endingMessages = Object.freeze({
  timed_out: 'timed out',
  out_of_memory: 'memory limit exceeded',
  interrupted: 'the run was interrupted',
})

/** The outcome of a run that was aborted before it started in an isolate. */
export const neverStartedOutcome: RunOutcome = Object.freeze({
  ending: 'interrupted',
  result: null,
  resultText: 'null',
  error: endingMessages.interrupted,
  logs: [],
  steps: [],
  durationMs: 0,
  cpuMs: 0,
})
